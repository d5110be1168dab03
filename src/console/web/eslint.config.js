// SPDX-License-Identifier: Apache-2.0
import hooks from "eslint-plugin-react-hooks";
import typescript from "typescript-eslint";

export default typescript.config(
  { ignores: ["node_modules/"] },
  ...typescript.configs.recommended,
  {
    plugins: { "react-hooks": hooks },
    rules: {
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text from messages goes in as text." },
        { property: "outerHTML", message: "Text from messages goes in as text." },
      ],
      "no-restricted-syntax": [
        "error",
        {
          selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']",
          message: "Text from messages goes in as text.",
        },
      ],
    },
  },
);
