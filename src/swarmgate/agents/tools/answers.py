"""Reads a participant's answer in a fixed form: the arguments of `submit_answer`, or the same as JSON in text.

A step has one `Form`: its schema, and what an answer by that schema comes to. Models that call the tool and models that
answer in text are held to the same schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import new_class
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from pydantic import AliasChoices, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic.json_schema import SkipJsonSchema

from swarmgate.agents.tools.answer_text import Unread, fields_of, objects_of, plain_keys, squeezed, unwrapped
from swarmgate.agents.tools.arguments import Arguments
from swarmgate.agents.tools.tool_table import schema, sentences

TEXT = "text"
"""The field that prose beside the JSON object stands in, where a schema has it."""


class Answer(Arguments):
    """The form of a step's answer, in typed fields.

    Keys compare without case and `_-`; each field may have further names (`called`). What is asked for nowhere is not
    looked at. `wrapped` says whether all of it may stand under one key of any name.
    """

    model_config = ConfigDict(
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        json_schema_extra={"additionalProperties": False},
    )
    conflict: SkipJsonSchema[str] = Field("", exclude=True)
    """Why no object of a text could be read, where the form does without one (`Form.optional`)."""
    wrapped: ClassVar[bool] = False

    @model_validator(mode="before")
    @classmethod
    def _by_field(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return cls.fields_in(
            unwrapped(plain_keys(cls.as_given(data), strict=True), cls.spellings(), by_any_name=cls.wrapped)
        )

    @classmethod
    def given(cls, found: Mapping[str, Any]) -> Self:
        """The answer with these fields, whatever the spelling of their keys.

        Raises:
            Unread: they break the schema; every one that does is told.
        """
        try:
            return cls.model_validate(dict(found))
        except ValidationError as error:
            raise _own(error) or Unread(cls._as_asked(" ".join(sentences(error, found, cls)))) from None

    @classmethod
    def _as_asked(cls, told: str) -> str:
        """Sentences about fields, which are called as they are asked for."""
        return re.sub(r"`(\w+)\b", lambda at: f"`{cls.asked_as(at[1]) if at[1] in cls.model_fields else at[1]}", told)

    @classmethod
    def as_given(cls, data: dict[str, Any]) -> dict[str, Any]:
        """The answer before its keys are compared: names that are keys of it may be put elsewhere."""
        return data

    @classmethod
    def fields_in(cls, found: Mapping[str, Any]) -> dict[str, Any]:
        """The values by field, the first that is there under a name of it; keys of `found` are `squeezed`."""
        named = ((name, _first(found, keys)) for name, keys in _names(cls).items())
        return {name: value for name, value in named if value is not None}

    @classmethod
    def knowing(cls, **known: Any) -> type[Self]:
        """A schema like this one that knows more of what is asked: values of its class variables."""
        return cast("type[Self]", _knowing(cls, tuple(known.items())))

    @classmethod
    def spellings(cls) -> tuple[str, ...]:
        """All keys under which the fields may stand, as `squeezed`."""
        return tuple(key for keys in _names(cls).values() for key in keys)

    @classmethod
    def spelt(cls, field: str) -> tuple[str, ...]:
        """The keys under which a field may stand, as `squeezed`, that which is asked for first."""
        return _names(cls)[field]

    @classmethod
    def asked_as(cls, field: str) -> str:
        """The name under which a field is asked for."""
        alias = cls.model_fields[field].validation_alias
        return str(alias.choices[0]) if isinstance(alias, AliasChoices) else to_camel(field)


def called(*names: str, **settings: Any) -> Any:
    """A field of an `Answer` that has these names, the first of which is asked for; `settings` are pydantic's."""
    return Field(validation_alias=AliasChoices(*names), **settings)


A = TypeVar("A", bound=Answer)
T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Form(Generic[A, T]):
    """The way in which a step is answered.

    Args:
        schema: the fields.
        take: what they come to; may raise `Unread`.
        asked: what is asked for, told to a model whose text cannot be read; empty: the schema in short.
        in_text: reads texts that have a form of their own, such as a line `FINAL_VERDICT:`; None: by the JSON object.
        prose: what of a text stands in the field `text`; None: what the JSON object has there.
        closing: whether the answer decides something: then its object has to end the text.
        optional: whether prose without an object is an answer too: of a text whose objects contradict each other, it is
            taken alone, with `conflict`.
        author: the names of who is asked, where an object that names another author is not its answer.
    """

    schema: type[A]
    take: Callable[[A], T]
    asked: str = ""
    in_text: Callable[[str], T] | None = None
    prose: Callable[[str], str] | None = None
    closing: bool = False
    optional: bool = False
    author: Collection[str] = ()

    def read(self, text: str) -> T:
        """What a text comes to.

        Raises:
            Unread: it holds no JSON object by the schema, or one that is not taken.
        """
        try:
            return self.in_text(text) if self.in_text else self.take(self._answer(text))
        except Unread as unread:
            asked = self.asked or f"Call submit_answer, or answer with one JSON object: {_sketch(schema(self.schema))}."
            message = "\n".join(dict.fromkeys(filter(None, (unread.form, asked))))
            raise Unread(unread.problem, message, otherwise=unread.otherwise) from None

    def then(self, after: Callable[[T], U]) -> Form[A, U]:
        """The same form, of which an answer comes to what `after` makes of it."""
        read = self.in_text
        return Form(
            self.schema,
            lambda given: after(self.take(given)),
            asked=self.asked,
            in_text=(lambda text: after(read(text))) if read else None,
            prose=self.prose,
            closing=self.closing,
            optional=self.optional,
            author=self.author,
        )

    def _answer(self, text: str) -> A:
        found, conflict = self._found(text)
        if self.prose:
            found[TEXT] = self.prose(text)
        given = self.schema.given(found)
        return given.model_copy(update={"conflict": conflict}) if conflict else given

    def _found(self, text: str) -> tuple[dict[str, Any], str]:
        """The fields of a text, and why there are none."""
        form = self.schema
        wanted = {key for key in form.spellings() if not (self.prose and key == TEXT)}
        try:
            found = fields_of(text, wanted, closing=self.closing, asked=self.author, wrapped=form.wrapped)
        except Unread as unread:
            if not self.optional:
                raise
            return {}, unread.problem if any(wanted & each.keys() for each in objects_of(text)) else ""
        return dict(found), ""


# --- inside ---


@lru_cache(maxsize=128)
def _names(form: type[Answer]) -> dict[str, tuple[str, ...]]:
    """The keys under which each field may stand, as `squeezed`, that which is asked for first."""
    fields = ((name, field) for name, field in form.model_fields.items() if not field.exclude)
    return {name: tuple(map(squeezed, _spellings(name, field))) for name, field in fields}


@lru_cache(maxsize=64)
def _knowing(base: type[Answer], known: tuple[tuple[str, Any], ...]) -> type:
    """The schema with these class variables; kept, for the same is asked for in every round."""
    return new_class(base.__name__, (base,), exec_body=lambda body: body.update(known))


def _sketch(node: Mapping[str, Any]) -> str:
    """What a JSON schema asks for, as an object with a word in the place of each value; `?`: may be left out."""
    if "enum" in node:
        return " or ".join(f'"{each}"' for each in node["enum"])
    match node.get("type"):
        case "object":
            required = node.get("required", ())
            keys = (
                f'"{key}"{"" if key in required else "?"}: {_sketch(each)}' for key, each in node["properties"].items()
            )
            return f"{{{', '.join(keys)}}}"
        case "array":
            return f"[{_sketch(node['items'])}, ...]"
        case kind:
            return str(kind)


def _own(error: ValidationError) -> Unread | None:
    """What a validator of ours said, if nothing else is wrong: its problem is one thing, the form another."""
    (first, *others) = error.errors(include_url=False, include_input=False)
    text = first.get("ctx", {}).get("error")
    return text if isinstance(text, Unread) and not others else None


def _first(found: Mapping[str, Any], keys: Collection[str]) -> Any:
    return next((found[key] for key in keys if found.get(key) is not None), None)


def _spellings(name: str, field: Any) -> tuple[str, ...]:
    alias = field.validation_alias
    return (name, *(map(str, alias.choices) if isinstance(alias, AliasChoices) else ()))
