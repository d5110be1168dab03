# SPDX-License-Identifier: Apache-2.0
"""Trees that both engines serve alike: one for each thing that shows in the Groot2 protocol."""

# ruff: noqa: E501

__all__ = ["SHAPES"]


def _document(*trees: str, models: str = "", main: str = "Main") -> str:
    body = "".join(trees)
    return f'<root BTCPP_format="4" main_tree_to_execute="{main}">{body}{models}</root>'


def _main(body: str) -> str:
    return f'<BehaviorTree ID="Main">{body}</BehaviorTree>'


_CHAIN = "".join(
    f'<BehaviorTree ID="T{at}"><Sequence><SubTree ID="T{at + 1}" k="{{k}}" own="{at}"/>'
    f'<Script code="mine := {at}; k += 1"/></Sequence></BehaviorTree>'
    for at in range(5)
)

SHAPES = {
    "basic": _document(
        _main(
            '<Sequence name="top"><Script code="a:=1.5; b:=\'hi\'; c:=3; d:=0.1"/>'
            '<SubTree ID="S" x="{a}" lit="7"/><Wait _skipIf="c == 4"/><AlwaysSuccess name="ok"/>'
            "</Sequence>"
        ),
        '<BehaviorTree ID="S"><Fallback><AlwaysFailure/><Cond/><Sleep msec="20"/></Fallback>'
        "</BehaviorTree>",
    ),
    "single leaf": _document(_main("<Wait/>")),
    "lone tree without ID": (
        '<root BTCPP_format="4"><BehaviorTree ID="Lone"><Same><Wait name="w"/></Same>'
        "</BehaviorTree></root>"
    ),
    "names": _document(
        _main(
            '<Sequence name="a &amp; b &lt;c&gt; &quot;d&quot; \'e\'"><Wait name="Wait"/>'
            '<Wait name="Grüße 🤖"/><Wait name="x/y.z"/><Wait name="same"/><Wait name="same"/>'
            "</Sequence>"
        )
    ),
    "conditions": _document(
        _main(
            '<Sequence><Script code="w := 5"/><Sequence _post="p := 1" _onSuccess="s := 2" _while="true" _successIf="false"'
            ' _failureIf="false" _skipIf="false" _onFailure="f := 3" _onHalted="h := 4">'
            '<Wait _while="w != 1" _onHalted="w := 0"/>'
            '<Script code="w := 1"/><SubTree ID="S" _skipIf="w == 2" _onSuccess="w := 2"/>'
            '<ScriptCondition code="w == 2 || w == 1"/></Sequence></Sequence>'
        ),
        '<BehaviorTree ID="S"><Inverter><Fail _onFailure="x := \'text\'"/></Inverter></BehaviorTree>',
    ),
    "all built-in nodes": _document(
        _main(
            '<Parallel success_count="-1" failure_count="99"><AsyncSequence><Cond/></AsyncSequence>'
            "<AsyncFallback><Cond/></AsyncFallback><SequenceWithMemory><Cond/></SequenceWithMemory>"
            "<ReactiveSequence><Cond/></ReactiveSequence>"
            "<ReactiveFallback><Cond/></ReactiveFallback>"
            "<ParallelAll><Cond/></ParallelAll><IfThenElse><Cond/><Cond/><Fail/></IfThenElse>"
            "<WhileDoElse><Cond/><Cond/><Fail/></WhileDoElse>"
            '<Switch2 case_2="b" variable="{v}" case_1="a"><Cond/><Fail/><Cond/></Switch2>'
            '<Switch6 variable="3" case_6="6" case_5="5" case_4="4" case_3="3" case_2="2" case_1="1">'
            "<Cond/><Cond/><Cond/><Cond/><Cond/><Cond/><Fail/></Switch6>"
            '<RetryUntilSuccessful num_attempts="2"><Cond/></RetryUntilSuccessful>'
            '<Repeat num_cycles="{n}" _skipIf="true"><Cond/></Repeat>'
            '<Timeout msec="9000"><Wait/></Timeout><Delay delay_msec="0" _skipIf="true"><Cond/></Delay>'
            '<RunOnce then_skip="false"><Cond/></RunOnce><RunOnce><Cond/></RunOnce>'
            "<ForceSuccess><Fail/></ForceSuccess><ForceFailure><Cond/></ForceFailure>"
            '<Precondition else="SUCCESS" if="1 == 1"><Cond/></Precondition>'
            '<Precondition if="true"><Cond/></Precondition>'
            '<LoopInt queue="1;2" value="{i}"><Cond/></LoopInt>'
            '<LoopDouble value="{d}" if_empty="SKIPPED" queue="1.5;2"><Cond/></LoopDouble>'
            '<LoopString if_empty="SUCCESS" queue="a;b" value="{t}"><Cond/></LoopString>'
            '<LoopBool queue="{q}" value="{bool}" _skipIf="true"><Cond/></LoopBool>'
            '<SetBlackboard value="7" output_key="seven"/>'
            '<SetBlackboard output_key="copy" value="{seven}"/><UnsetBlackboard key="nothing"/>'
            '<WasEntryUpdated entry="{seven}"/><SkipUnlessUpdated entry="{seven}"><Cond/>'
            '</SkipUnlessUpdated><WaitValueUpdate entry="{copy}"><Cond/></WaitValueUpdate>'
            '<Sleep msec="0"/><KeepRunningUntilFailure><Fail/></KeepRunningUntilFailure>'
            "</Parallel>"
        )
    ),
    "line breaks": _document(
        _main(
            '<Sequence><Script code="a := 1;\n    b := 2;\tc := 3;\r\n d := \'&lt;\n&apos;"/>'
            '<SetBlackboard output_key="t" value=" x\ny&#10;z\t "/><Cond _skipIf="a\n== 2"/>'
            '<SubTree ID="S" p="1\n2"/></Sequence>'
        ),
        '<BehaviorTree ID="S"><Cond/></BehaviorTree>',
    ),
    "defaults": _document(
        _main(
            '<Sequence><Parallel success_count="1"><Cond/></Parallel><Parallel><Cond/></Parallel>'
            '<Parallel failure_count="0"><Cond/></Parallel>'
            '<Parallel failure_count="1" success_count="1"><Cond/></Parallel>'
            '<Parallel success_count="1" failure_count="1"><Cond/></Parallel></Sequence>'
        )
    ),
    "remaps": _document(
        _main(
            "<Sequence><Script code=\"a := 1; b := 'two'; _private := 3\"/>"
            '<SubTree ID="S" name="first" x="{a}" y="{b}" z="text" _autoremap="true"/>'
            '<SubTree ID="S" y="{=}" x="{new}" z="12" alpha="1" beta="2" gamma="{b}" delta="3"/>'
            '<SubTree ID="S" name="third" x="{@a}" y="{y}" z=""/></Sequence>'
        ),
        '<BehaviorTree ID="S"><Sequence><Script code="x := 5; own := 2.5; _private := 6"/>'
        '<SubTree ID="U" x="{x}" deep="{own}"/></Sequence></BehaviorTree>',
        '<BehaviorTree ID="U"><Script code="deep := 0.5; @top := 9; x += 1"/></BehaviorTree>',
    ),
    "models": _document(
        _main(
            '<Sequence><SubTree ID="S" a="1"/><SubTree ID="S" b="{w}" a="{v}" c="x"/></Sequence>'
        ),
        '<BehaviorTree ID="S"><Script code="c := \'set\'"/></BehaviorTree>',
        models='<TreeNodesModel><SubTree ID="S"><input_port name="a"/><inout_port name="b"'
        ' default="{bb}"/><output_port name="c" default="{cc}">the result</output_port>'
        '</SubTree><Action ID="Wait"><input_port name="never" type="int" default="3"/></Action>'
        '<Condition ID="NotRegistered"/></TreeNodesModel>',
    ),
    "main and SubTree of one name": _document(
        _main('<Sequence><SubTree ID="S" name="Main" x="1"/><Script code="y := 2"/></Sequence>'),
        '<BehaviorTree ID="S"><Wait/></BehaviorTree>',
    ),
    "many ports": _document(
        _main('<SubTree ID="S" ' + " ".join(f'p{at}="{at}"' for at in range(40)) + "/>"),
        '<BehaviorTree ID="S"><Cond/></BehaviorTree>',
    ),
    "nested": _document(
        _main('<Sequence><Script code="k := 1"/><SubTree ID="T0" k="{k}"/><Wait/></Sequence>'),
        _CHAIN,
        '<BehaviorTree ID="T5"><Fallback><Fail/><SubTree ID="Leaf"/><Cond/></Fallback></BehaviorTree>',
        '<BehaviorTree ID="Leaf"><Wait/></BehaviorTree>',
    ),
    "wide": _document(_main("<Sequence>" + "<Cond/>" * 300 + "<Wait/></Sequence>")),
    "empty entries": _document(
        _main(
            '<Sequence><Wait _skipIf="true"/><SetBlackboard output_key="x" value="{unset}"'
            ' _skipIf="true"/><LoopInt queue="{ints}" value="{one}" _skipIf="true"><Cond/></LoopInt>'
            '<Precondition if="true" else="{result}"><Cond/></Precondition>'
            '<Sleep msec="{time}" _skipIf="true"/><Sleep msec="{=}" _skipIf="true"/><Cond/></Sequence>'
        )
    ),
    "skipped root": _document(_main('<Sequence><Cond _skipIf="true"/></Sequence>')),
}
"""XML by name."""
