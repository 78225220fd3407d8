"""A model as an ONNX graph, in float32; needs the extra `onnx`.

Inputs, one per column, (N, 1): numbers and dates (days since 1970-01-01) as float32 with NaN for missing; booleans and
categories as strings as in the table, with "" or a word for missing values. ONNX has no operator that trims: a single
blank before or after a word is ignored, and the words of a boolean are known in lower, upper and title case. Outputs:
`prediction` (N,), `probabilities` (N, K) if the model has them, `scores` (N, K) or (N, 1). A column's mean is
subtracted before the multiplication, for precision in float32. Text columns have no graph, and raise an OptionError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.arrays import Floats
from separatrix.errors import OptionError
from separatrix.model.export.terms import ScoreTerm, column_types, terms_of
from separatrix.model.predictions import label_array
from separatrix.model.record import Model
from separatrix.tables.formats import MISSING_ANYWHERE, boolean_words

TYPES = {
    "number": "float32, NaN where missing",
    "date": "float32, days since 1970-01-01, NaN where missing",
    "boolean": 'strings as in training, "" where missing',
    "word": 'strings as in training, "" where missing',
}
OPSETS = {"": 17, "ai.onnx.ml": 3}
IR_VERSION = 8
ONE = np.asarray([1])


def to_onnx(model: Model) -> bytes:
    """Return the graph as the bytes of an .onnx file; an OptionError if `onnx` is not installed or a column is text."""
    try:
        import onnx  # noqa: PLC0415  # an extra, and slow to import
    except ImportError:
        raise OptionError("ONNX needs a library that is not here; install it: pip install 'separatrix[onnx]'") from None
    return bytes(_Graph(onnx, model).finish().SerializeToString())


class _Graph:
    """A graph under construction: nodes, constants and inputs, each value with a unique name."""

    def __init__(self, onnx: Any, model: Model) -> None:
        self.onnx, self.model, self.terms = onnx, model, terms_of(model)
        self.nodes, self.constants, self.inputs = list[Any](), list[Any](), list[Any]()
        self.input_names, self.count = set(model.encoding.input_names), 0
        self.offset = model.intercept.copy()

    def finish(self) -> Any:
        """Return the model of the graph, checked."""
        scores, number = self.scores(), self.onnx.TensorProto.FLOAT
        if self.model.classes is None:
            outputs = [self.output("prediction", self.flat(scores), number, ["N"])]
        else:
            outputs = self.classify(scores)
        outputs.append(self.output("scores", scores, number, ["N", len(self.model.coef)]))
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "separatrix", self.inputs, outputs, self.constants)
        about = "\n".join([f"Predicts {self.model.target!a}.", *column_types(self.terms, TYPES)])
        made = {"ir_version": IR_VERSION, "producer_name": "separatrix", "doc_string": about}
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        exported = helper.make_model(graph, opset_imports=opsets, **made)
        helper.set_model_props(exported, {"target": self.model.target, "estimator": self.model.estimator})
        self.onnx.checker.check_model(exported)
        return exported

    def scores(self) -> str:
        """Return the name of the scores (N, K)."""
        parts = [part for term in self.terms for part in self.parts(term)]
        if not parts:
            raise OptionError("every coefficient is 0, so the graph would have no input; there is nothing to export")
        total = parts[0] if len(parts) == 1 else self.node("Sum", parts)
        return self.node("Add", [total, self.floats(self.offset)])

    def parts(self, term: ScoreTerm) -> Sequence[str]:
        """Add a term, and return the names of its parts (N, K)."""
        if term.kind in {"number", "date"}:
            return self.numbers(term)
        if term.kind == "boolean":
            words, lower = boolean_words(term.words)
            spelt = {each: truth for word, truth in lower.items() for each in (word, word.upper(), word.title())}
            rows = np.vstack([np.zeros(len(self.offset)), term.weight, self.gap(term)])
            return [self.lookup(term.name, words, spelt, rows, other=2)]
        if term.kind == "word":
            rows = np.vstack([*term.levels.values(), term.weight, self.gap(term)])
            words = {word: place for place, word in enumerate(term.levels)}
            return [self.lookup(term.name, words, {}, rows, other=len(words))]
        raise OptionError(
            f"column {term.name!r} is text, and its words have no ONNX graph; export to python, or fit without it"
        )

    def numbers(self, term: ScoreTerm) -> Sequence[str]:
        """Add the product of a column and its weight, and the contribution of its missing cells."""
        cell = self.input(term.name, self.onnx.TensorProto.FLOAT)
        centre, weight = np.float32(term.centre), np.asarray(term.weight)
        near = self.node("Sub", [cell, self.floats([[centre]])])
        base = (float(centre) - term.origin) * weight
        self.offset += base
        gaps = self.node("Or", [self.node("IsNaN", [cell]), self.node("IsInf", [cell])])
        filled = self.node("Where", [gaps, self.floats([[np.nan if term.gap is None else 0.0]]), near])
        part = self.node("MatMul", [filled, self.floats([weight])])
        shift = self.gap(term) - base
        if term.gap is None or not shift.any():
            return [part]
        marks = self.node("Cast", [gaps], to=self.onnx.TensorProto.FLOAT)
        return [part, self.node("MatMul", [marks, self.floats([shift])])]

    def lookup(
        self, name: str, words: Mapping[str, float], spelt: Mapping[str, float], rows: Floats, *, other: int
    ) -> str:
        """Return the name of the rows that belong to a column's words, also with a blank before or after them.

        The last row is that of words for missing values, which `spelt` does not override, but `words` do.
        """
        cell = self.input(name, self.onnx.TensorProto.STRING)
        indices = {**spelt, **dict.fromkeys(MISSING_ANYWHERE, len(rows) - 1), **words}
        padded = {pad.format(word): index for word, index in indices.items() for pad in (" {}", "{} ", " {} ")}
        indices = padded | indices
        places = [int(index) for index in indices.values()]
        options = {"keys_strings": list(indices), "values_int64s": places, "default_int64": other}
        index = self.node("LabelEncoder", [cell], domain="ai.onnx.ml", **options)
        return self.flat(self.node("Gather", [self.floats(rows), index], axis=0))

    def classify(self, scores: str) -> list[Any]:
        """Return the outputs of a classifier: its labels, and its probabilities if it has them."""
        rule, labels = self.model.rule, label_array(self.model.classes or ())
        if len(self.model.coef) > 1:
            index = self.node("ArgMax", [scores], axis=1, keepdims=0)
        else:
            above = "GreaterOrEqual" if rule.tie == "positive" else "Greater"
            second = self.flat(self.node(above, [scores, self.floats([[rule.boundary]])]))
            index = self.node("Cast", [second], to=self.onnx.TensorProto.INT64)
        tensor = self.onnx.helper.np_dtype_to_tensor_dtype(labels.dtype)
        values = np.asarray([*map(str, labels)], dtype=object) if labels.dtype == object else labels
        label = self.node("Gather", [self.constant(values), index], axis=0)
        outputs = [self.output("prediction", label, tensor, ["N"])]
        if rule.link == "none":
            return outputs
        probabilities, shape = self.probabilities(scores), ["N", len(labels)]
        return [*outputs, self.output("probabilities", probabilities, self.onnx.TensorProto.FLOAT, shape)]

    def probabilities(self, scores: str) -> str:
        """Return the name of the probabilities (N, K)."""
        if self.model.rule.link == "softmax":
            return self.node("Softmax", [scores], axis=1)
        each = self.node("Sigmoid", [scores])
        if self.model.rule.link == "sigmoid":
            return self.node("Concat", [self.node("Sigmoid", [self.node("Neg", [scores])]), each], axis=1)
        return self.node("Div", [each, self.node("ReduceSum", [each, self.constant(ONE)], keepdims=1)])

    def gap(self, term: ScoreTerm) -> Floats:
        """Return the contribution of a missing cell; NaN if such a row has no score."""
        return np.full(len(self.offset), np.nan) if term.gap is None else np.asarray(term.gap)

    def floats(self, numbers: Any) -> str:
        """Add a constant in float32, and return its name."""
        return self.constant(np.asarray(numbers, dtype=np.float32))

    def flat(self, value: str) -> str:
        """Return the name of a value (N, 1, …) without its second axis."""
        return self.node("Squeeze", [value, self.constant(ONE)])

    def node(self, operator: str, inputs: Sequence[str], *, domain: str = "", **options: Any) -> str:
        """Add a node, and return the name of its output."""
        name = self.fresh()
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], domain=domain, **options))
        return name

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant, and return its name."""
        name = self.fresh()
        self.constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def input(self, name: str, kind: int) -> str:
        """Add an input (N, 1), and return its name."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["N", 1]))
        return name

    def output(self, name: str, value: str, kind: int, shape: list[Any]) -> Any:
        """Give a value the name of an output."""
        while name in self.input_names:
            name = f"{name}_"
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def fresh(self) -> str:
        """Return an unused name."""
        self.count += 1
        name = f"value_{self.count}"
        return name if name not in self.input_names else self.fresh()
