use serde_json::json;

use super::super::*;
use crate::model::{Annotations, Completing, PromptArgument};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Named {
    #[expect(dead_code)]
    name: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[schemars(deny_unknown_fields)]
#[serde(tag = "op")]
enum Tagged {
    #[expect(dead_code)]
    Add {
        n: i64,
    },
    Clear,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
enum Word {
    On,
    Off,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Listed {
    #[expect(dead_code)]
    names: Vec<String>,
}

#[derive(Clone)]
struct Db;
struct Conn;

async fn nothing() -> &'static str {
    ""
}
async fn named(_: Args<Named>) -> &'static str {
    ""
}
async fn raw(_: RawArgs) -> &'static str {
    ""
}
async fn stateful(_: State<Db>) -> &'static str {
    ""
}
async fn connected(_: Provided<Conn>) -> &'static str {
    ""
}
async fn complete(_: Completing) -> Vec<String> {
    Vec::new()
}

fn important(priority: f64) -> Annotations {
    Annotations { priority: Some(priority), ..Annotations::default() }
}

fn registry() -> Registry {
    Registry::new("test", "1")
}

/// Each wrong declaration, and what its error must say: whose it is, and the fix.
#[test]
fn everything_that_is_wrong_with_a_declaration_is_said_with_the_fix() {
    let cases: Vec<(Registry, &[&str])> = vec![
        // C94: names
        (registry().tool(tool("", nothing)), &["the tool ``", "empty name", "give it one"]),
        (registry().tool(tool("a\n", nothing)), &["control character", r"`a\n`", "remove it"]),
        (
            registry().tool(tool("a", nothing)).tool(tool("a", nothing)),
            &["tool `a` is declared twice", "another name"],
        ),
        (
            registry().prompt(prompt("p", nothing)).prompt(prompt("p", nothing)),
            &["prompt `p` is declared twice", "another name"],
        ),
        (
            registry().resource("a:b", nothing).resource("a:b", nothing),
            &["resource `a:b` is declared twice", "another URI"],
        ),
        (
            registry().resource_template("a:{b}", nothing).resource_template("a:{b}", nothing),
            &["template `a:{b}` is declared twice", "remove one"],
        ),
        // Arguments and schemas: C89, R26-TOOL-03
        (
            registry().tool(tool("t", |_: Args<Word>| async {})),
            &["tool `t` must be an object", "Word", "a struct with named fields"],
        ),
        (
            registry().tool(tool("t", |_: Args<()>| async {})),
            &["tool `t` must be an object", "null", "a struct with named fields"],
        ),
        (
            registry().tool(tool("t", |_: Args<Vec<u8>>| async {})),
            &["tool `t` must be an object", "array"],
        ),
        (
            registry().tool(tool("t", raw).input_schema(json!({ "type": "string" })).unchecked()),
            &["tool `t` must be an object", r#""type": "string""#, r#"`"type": "object"`"#],
        ),
        (
            registry().tool(tool("t", raw).input_schema(json!(null)).unchecked()),
            &["tool `t` must be an object", "null"],
        ),
        (registry().tool(tool("t", raw)), &["takes `RawArgs`", "add `.input_schema(..)`"]),
        (
            registry().tool(tool("t", nothing).output_schema(json!(true))),
            &["output schema of the tool `t`", "give a JSON Schema, or none"],
        ),
        // R26-HDR-09 to R26-HDR-11
        (
            registry().tool(tool("t", raw).unchecked().input_schema(json!({
                "type": "object",
                "properties": { "a": { "type": "number", "x-mcp-header": "A" } },
            }))),
            &["input schema of the tool `t`", "x-mcp-header", "properties/a", "correct"],
        ),
        // What handlers need
        (
            registry().tool(tool("t", stateful)),
            &["tool `t` takes `State<", "Db>`", "add `.state(..)`"],
        ),
        (
            registry().resource("a:b", stateful),
            &["resource `a:b` takes `State<", "Db>`", "add `.state(..)`"],
        ),
        (
            registry().prompt(prompt("p", connected)),
            &["prompt `p` takes `Provided<", "Conn>`", "add `.provide::<", "provide_instance"],
        ),
        (registry().state(Db).state(Db), &["state `", "Db` is given twice", "remove one"]),
        (
            registry().provide_instance(Conn).provide_instance(Conn),
            &["Conn` is provided twice", "remove one"],
        ),
        // Resources: C95
        (registry().resource("readme", nothing), &["`readme` has no scheme", "absolute URI"]),
        (registry().resource("", nothing), &["resource `` has an empty name"]),
        (registry().resource_template("a:{b", nothing), &["template `a:{b`", "byte", "correct"]),
        (registry().resource_template("a:{b*}", nothing), &["template `a:{b*}`", "correct"]),
        (
            registry().resource_template("a:{b}", resource(nothing).size(3)),
            &["template `a:{b}` has a size", "remove `.size`"],
        ),
        (registry().resource("a:b", raw), &["takes `RawArgs`", "take `Variables` or `Uri`"]),
        (
            registry().resource("a:b", named),
            &["resource `a:b` has no variable `name`", "Named", "make the field optional"],
        ),
        (
            registry().resource_template("a:{other}", named),
            &["template `a:{other}` has no variable `name`", "add it to the URI"],
        ),
        (
            registry().resource_template("a:{b}", |_: Args<Word>| async { "" }),
            &["template `a:{b}` are named", "Word", "named fields"],
        ),
        (
            registry().resource("a:b", resource(nothing).annotations(important(1.5))),
            &["priority of the resource `a:b`", "between 0 and 1"],
        ),
        (
            registry().tool(tool("t", nothing).meta(json!(3))),
            &["`_meta` of the tool `t` is no object"],
        ),
        // Prompts and completions
        (
            registry().prompt(prompt("p", |_: Args<Listed>| async { "" })),
            &["argument `names` of the prompt `p`", "strings only", "take a `String`"],
        ),
        (
            registry().completions(|_: Completing, _: RawArgs| async { vec!["x"] }),
            &["the completer takes `Args`", "`Completing`"],
        ),
        (
            registry().prompt(
                prompt("p", nothing)
                    .argument(PromptArgument::new("a"))
                    .argument(PromptArgument::new("a")),
            ),
            &["prompt `p` declares the argument `a` twice", "remove one"],
        ),
        (
            registry().prompt(prompt("p", |_: Args<Word>| async { "" })),
            &["prompt `p` must be named", "Word", "named fields"],
        ),
        (registry().completions(complete).completions(complete), &["two completers", "in one"]),
        (registry().completions(|| async { vec!["x"] }), &["does not take `Completing`", "add it"]),
    ];
    for (registry, wanted) in cases {
        let error = registry.build().expect_err(&format!("{wanted:?}"));
        assert_eq!(error.problems().len(), 1, "{error}");
        for part in wanted {
            assert!(error.to_string().contains(part), "{error}\nlacks: {part}");
        }
    }
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    let error = registry()
        .tool(tool("t", stateful))
        .tool(tool("", nothing))
        .resource("nowhere", connected)
        .build()
        .expect_err("three mistakes, one of them twofold");
    assert_eq!(error.problems().len(), 4, "{error}");
}

#[cfg(not(feature = "schema"))]
#[test]
fn a_schema_that_nothing_checks_is_refused() {
    let schema = || json!({ "type": "object", "required": ["a"] });
    let declare = || tool("t", raw).input_schema(schema());
    let error = registry().tool(declare()).build().expect_err("nothing checks it");
    for fix in ["nothing checks", "feature `schema`", "`.validator(..)`", "`.unchecked()`"] {
        assert!(error.to_string().contains(fix), "{error}");
    }
    assert!(registry().tool(declare().unchecked()).build().is_ok());
    assert!(registry().tool(declare().validator(|_| Ok(()))).build().is_ok());
    // What reads its arguments into a type checks them by that.
    assert!(registry().tool(tool("t", named).input_schema(schema())).build().is_ok());
}

#[cfg(feature = "schema")]
#[test]
fn a_schema_of_a_tool_checks_its_arguments() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "integer" } } });
    let service = registry().tool(tool("t", raw).input_schema(schema)).build().expect("valid");
    let refused = support::outcome(
        &service,
        support::call(crate::model::Operation::CallTool, "t", r#"{"a":"x"}"#),
    );
    let failure = support::failure(refused);
    assert_eq!(failure.kind, crate::model::FailureKind::InvalidArguments);
    assert!(failure.message.contains("`a` must be an integer"), "{failure}");
    assert!(!support::tool(&service, "t", r#"{"a":3}"#).is_error);
    // C91: what cannot be resolved is an error, and nothing is ever fetched.
    let remote = json!({ "type": "object", "$ref": "http://169.254.169.254/x" });
    for schema in [json!({ "type": "object", "required": 3 }), remote] {
        let broken = tool("t", raw).input_schema(schema);
        let error = registry().tool(broken).build().expect_err("no schema");
        assert!(error.to_string().contains("correct it"), "{error}");
    }
}

#[test]
fn odd_names_are_allowed_and_warned_of() {
    // C94, R26-TOOL-15
    let long = "x".repeat(129);
    let names = ["国", "a/b", "with space", long.as_str(), "fine-name_1.2"];
    let registry = names.iter().fold(registry(), |all, name| all.tool(tool(*name, nothing)));
    let service = registry.build().expect("odd, and allowed");
    assert_eq!(service.warnings().len(), 4, "{:?}", service.warnings());
    assert!(service.warnings().iter().all(|warning| !warning.contains("fine")));
}

#[test]
fn a_server_without_a_name_is_refused() {
    for version in ["", "1"] {
        let error = Registry::new("", version).build().expect_err("no name");
        assert!(error.to_string().contains("empty name"), "{error}");
    }
    assert!(Registry::new("x", "").build().is_ok());
}

/// R26-META-02 to R26-META-04.
#[test]
fn keys_of_meta_that_cannot_stand_are_refused_with_the_fix() {
    type Declare = fn(serde_json::Value) -> Registry;
    let declares: [(&str, Declare); 4] = [
        ("tool", |meta| registry().tool(tool("t", nothing).meta(meta))),
        ("prompt", |meta| registry().prompt(prompt("p", || async { "" }).meta(meta))),
        ("resource", |meta| registry().resource("a:b", resource(|| async { "" }).meta(meta))),
        ("template", |meta| {
            registry().resource_template("a:{b}", resource(|| async { "" }).meta(meta))
        }),
    ];
    for (what, declare) in declares {
        for key in ["bad key!", "-x", "a..b/x", "x-", "\u{1b}"] {
            let error = declare(json!({ key: 1 })).build().expect_err(key).to_string();
            assert!(error.contains("malformed") && error.contains("letters"), "{what}: {error}");
            assert!(!error.contains('\u{1b}'), "{error}");
        }
        for key in ["io.modelcontextprotocol/serverInfo", "progressToken"] {
            let error = declare(json!({ key: 3 })).build().expect_err(key).to_string();
            assert!(error.contains("remove it"), "{what}: {error}");
        }
        let service = declare(json!({ "com.mcp/x": 1, "ui/a": 2 })).build().expect("allowed");
        assert_eq!(service.warnings().len(), 1, "{what}: {:?}", service.warnings());
    }
}

#[test]
fn schemas_that_no_reader_could_make_sense_of_are_refused() {
    for schema in [
        json!({ "type": "object", "properties": { "a": { "type": 5 } } }),
        json!({ "type": "object", "properties": { "a": { "type": "strin" } } }),
        json!({ "type": "object", "properties": [] }),
        json!({ "type": "object", "required": "a" }),
        json!({ "type": "object", "$defs": { "x": { "anyOf": {} } } }),
        json!({ "type": "object", "properties": { "a": { "items": { "enum": "x" } } } }),
        json!({ "type": "object", "properties": { "a": 3 } }),
    ] {
        let declared = tool("t", raw).input_schema(schema.clone()).unchecked();
        let error = registry().tool(declared).build().expect_err("no schema").to_string();
        assert!(error.contains("the input schema of the tool `t` is invalid"), "{error}");
        let declared = tool("t", nothing).output_schema(schema);
        let error = registry().tool(declared).build().expect_err("no schema").to_string();
        assert!(error.contains("the output schema of the tool `t` is invalid"), "{error}");
    }
    let fine = json!({ "type": "object", "properties": { "a": { "type": ["string", "null"] }, "type": { "type": "integer" }, "b": true } });
    assert!(registry().tool(tool("t", raw).input_schema(fine).unchecked()).build().is_ok());
}

#[test]
fn optional_arguments_can_be_mirrored() {
    // R26-HDR-10, R26-HDR-23
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Given {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: Option<String>,
        #[schemars(extend("x-mcp-header" = "Count"))]
        count: Option<u32>,
        #[schemars(extend("x-mcp-header" = "Dry"))]
        dry: Option<bool>,
        #[schemars(extend("x-mcp-header" = "Plain"))]
        plain: String,
    }
    let typed = |Args(_): Args<Given>| async {};
    let service = registry().tool(tool("t", typed)).build().expect("valid");
    let mirrored = &service.catalog().tools().first().expect("a tool").mirrored;
    let headers: std::collections::BTreeSet<_> = mirrored.iter().map(|it| it.header()).collect();
    let expected = ["Mcp-Param-Count", "Mcp-Param-Dry", "Mcp-Param-Plain", "Mcp-Param-Region"];
    assert_eq!(headers, expected.into());
}

#[test]
fn a_revision_that_nobody_speaks_is_warned_of() {
    let oldest = |version: &'static str| {
        let declared = registry().tool(tool("t", nothing).min_revision(version));
        declared.build().expect("valid").warnings().to_vec()
    };
    assert!(oldest("2025-06-18").is_empty());
    let warnings = oldest("2025-6-18").join("");
    assert!(warnings.contains("`2025-6-18`") && warnings.contains("2025-06-18"), "{warnings}");
}

#[test]
fn input_schemas_always_have_an_object_at_their_root() {
    // C89, R26-TOOL-03, R2511-TOOL-16
    let service = registry()
        .tool(tool("none", nothing))
        .tool(tool("any", |_: Args<serde_json::Value>| async {}))
        .tool(tool("tagged", |_: Args<Tagged>| async {}))
        .tool(tool("maybe", |_: Args<Option<Named>>| async {}))
        .tool(tool("bare", raw).input_schema(json!({})).unchecked())
        .build()
        .expect("all are objects");
    for tool in service.catalog().tools() {
        let schema: serde_json::Value = tool.input_schema.decode().expect("JSON");
        assert_eq!(schema["type"], "object", "{schema}");
        assert!(schema["properties"].is_object(), "{schema}");
        assert!(tool.output_schema.is_none());
    }
}

#[test]
fn names_schemas_and_media_types_follow_from_handlers() {
    #[derive(serde::Serialize, schemars::JsonSchema)]
    struct Sum {
        total: i64,
    }
    let service = registry()
        .tool(tool("sum", |_: Args<Named>| async { Json(Sum { total: 1 }) }))
        .tool(tool("list", || async { Json(vec![1]) }))
        .tool(tool("free", || async { Ok::<_, Error>(Json(json!({ "x": 1 }))) }))
        .resource("a:json", || async { Json(json!({})) })
        .resource("a:text", resource(nothing).name("Text"))
        .prompt(prompt("p", named).argument(PromptArgument::new("extra")))
        .build()
        .expect("valid");
    let catalog = service.catalog();
    let schema = |name: &str| {
        let schema = catalog.tool(name)?.output_schema.as_ref()?;
        schema.decode::<serde_json::Value>().ok()
    };
    assert_eq!(schema("sum").expect("an object")["required"], json!(["total"]));
    assert_eq!(schema("list").expect("an array")["type"], "array");
    assert_eq!(schema("free"), None);
    let [json, text] = catalog.resources() else { panic!("two resources") };
    assert_eq!(
        (json.name.as_str(), json.mime_type.as_deref()),
        ("a:json", Some("application/json"))
    );
    assert_eq!((text.name.as_str(), text.mime_type.as_deref()), ("Text", None));
    let [name, extra] = &catalog.prompts()[0].arguments[..] else { panic!("two arguments") };
    assert!(name.required && name.name == "name" && !extra.required);
}

#[test]
fn a_server_logs_if_a_handler_can_and_completes_if_it_has_a_completer() {
    // R24-LOG-01, R2503-CMPL-02
    let features = |registry: Registry| registry.build().expect("valid").catalog().features.clone();
    let talking = || registry().tool(tool("t", |_: Exchange| async {}));
    assert!(!features(registry().tool(tool("t", nothing))).logging);
    assert!(features(talking()).logging);
    assert!(!features(talking().logging(false)).logging);
    assert!(!features(registry()).completions);
    assert!(features(registry().completions(complete)).completions);
}

#[test]
fn what_only_http_has_is_known_before_anything_is_served() {
    let http_only =
        |registry: Registry| registry.build().expect("valid").http_only().map(str::to_owned);
    let parts = http_only(registry().tool(tool("t", |_: Parts| async {}))).expect("HTTP only");
    assert!(parts.contains("tool `t` takes `Parts`") && parts.contains("Option<Parts>"), "{parts}");
    assert!(http_only(registry().resource("a:b", |_: Extension<u8>| async { "" })).is_some());
    let optional = |_: Option<Parts>, _: Option<Extension<u8>>| async {};
    assert_eq!(http_only(registry().tool(tool("t", optional))), None);
}
