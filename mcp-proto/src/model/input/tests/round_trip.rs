//! Any question reads back equal from the text in which it is stored.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::json;

use super::super::*;
use crate::model::Json;

proptest! {
    #[test]
    fn a_stored_question_reads_back_equal(question in question()) {
        prop_assert_eq!(InputRequest::read(&question.stored()), Ok(question));
    }
}

/// Any question that could be put.
pub(crate) fn question() -> impl Strategy<Value = InputRequest> {
    prop_oneof![
        (any::<String>(), vec(field(), 0..5)).prop_map(|(message, fields)| {
            elicit(message).schema(FormSchema::new(fields)).into()
        }),
        (any::<String>(), any::<String>()).prop_map(|(message, url)| elicit_url(message, url)),
        sampling().prop_map(InputRequest::from),
        Just(list_roots()),
    ]
}

pub(super) fn field() -> impl Strategy<Value = Field> {
    let bound = || -1e9..1e9f64;
    let kind = prop_oneof![
        (0..4u64, 3..9u64).prop_map(|(least, most)| Field::text("").length(least..=most)),
        (bound(), bound()).prop_map(|(a, b)| Field::number("").range(a.min(b), a.max(b))),
        (-9..9i8, -9..9i8)
            .prop_map(|(a, b)| { Field::integer("").range(a.min(b).into(), a.max(b).into()) }),
        Just(Field::boolean("")),
        Just(Field::text("")),
        Just(Field::number("")),
        Just(Field::integer("")),
        options().prop_map(|options| Field::choice("", options)),
        (options(), 0..2u64, 1..4u64)
            .prop_map(|(options, least, most)| Field::choices("", options).count(least..=most)),
    ];
    ("[a-e]|.{1,3}", kind, any::<bool>(), option::of(any::<String>()))
        .prop_map(|(name, kind, required, title)| Field { name, required, title, ..kind })
}

fn options() -> impl Strategy<Value = Vec<Choice>> {
    let untitled = vec("[a-d]", 1..4);
    let titled = btree_map("[a-d]", any::<String>(), 1..4);
    prop_oneof![
        untitled.prop_map(|values| values.into_iter().map(Choice::from).collect()),
        titled.prop_map(|pairs| pairs.into_iter().map(Choice::from).collect()),
    ]
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        any::<String>().prop_map(Block::from),
        vec(any::<u8>(), 0..5).prop_map(|data| Block::image(&data, "image/png")),
        (any::<String>(), any::<i32>()).prop_map(|(id, n)| Block::tool_use(
            &id,
            "t",
            &Json::from(json!({ "n": n }))
        )),
        any::<(String, bool)>().prop_map(|(id, failed)| Block::tool_result(&id, "x", failed)),
    ]
}

fn sampling() -> impl Strategy<Value = Sampling> {
    let message = (any::<bool>(), vec(block(), 1..3)).prop_map(|(user, blocks)| {
        let mut message = SamplingMessage::assistant("");
        message.content = blocks;
        if user { SamplingMessage { role: crate::model::Role::User, ..message } } else { message }
    });
    let number = || any::<f64>().prop_filter("finite", |number| number.is_finite());
    let rest = (option::of(any::<String>()), vec(any::<String>(), 0..3), option::of(number()));
    (vec(message, 0..4), any::<u32>(), rest, option::of((number(), number(), number()))).prop_map(
        |(messages, max_tokens, (system_prompt, stop_sequences, temperature), priorities)| {
            let sampling =
                Sampling::new(messages, max_tokens).include_context(IncludeContext::None);
            let sampling = match priorities {
                Some((a, b, c)) => sampling.priorities(a, b, c).model("m"),
                None => sampling,
            };
            Sampling { system_prompt, stop_sequences, temperature, ..sampling }
        },
    )
}
