// SPDX-License-Identifier: Apache-2.0
declare module "d3-flextree" {
  export interface FlexNode<Datum> {
    readonly data: Datum;
    readonly depth: number;
    readonly x: number;
    readonly y: number;
    each(visit: (node: FlexNode<Datum>) => void): this;
  }
  export interface FlexTree<Datum> {
    (root: FlexNode<Datum>): FlexNode<Datum>;
    hierarchy(data: Datum, children: (datum: Datum) => readonly Datum[]): FlexNode<Datum>;
  }
  export function flextree<Datum>(options: {
    nodeSize(node: FlexNode<Datum>): [number, number];
    spacing(a: FlexNode<Datum>, b: FlexNode<Datum>): number;
  }): FlexTree<Datum>;
}
