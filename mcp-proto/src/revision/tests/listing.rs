use super::support::{adapter, call, catalog, handshakes, json, listed, modern, published, tool};
use crate::frame::uri_template::UriTemplate;
use crate::model::{
    CacheHint, CacheScope, Catalog, FailureKind, Icon, Operation, Prompt, Resource,
    ResourceTemplate,
};
use crate::revision::{Adapter, Published, Revision};

fn names(
    published: &Published,
    adapter: &Adapter,
    cursor: Option<&str>,
) -> (Vec<String>, Option<String>) {
    let params = cursor.map(|cursor| format!(r#""cursor":"{cursor}""#)).unwrap_or_default();
    let call = call(adapter, "tools/list", &params);
    let mut out = Vec::new();
    published.write_listing(adapter, &call, &mut out).unwrap();
    let reply = super::support::parsed(&out);
    let tools = reply["result"]["tools"].as_array().unwrap().iter();
    let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    (names, reply["result"]["nextCursor"].as_str().map(str::to_owned))
}

fn tools(names: &[&str], page_size: usize) -> Catalog {
    let mut catalog = catalog();
    catalog.page_size = page_size;
    for name in names {
        catalog.insert_tool(tool(name));
    }
    catalog
}

#[test]
fn pages_follow_each_other_to_the_end() {
    for size in [0, 1, 2, 3, 5, 7] {
        let published = published(tools(&["e", "a", "c", "b", "d"], size));
        let (mut all, mut cursor, mut pages) = (Vec::new(), None, 0);
        loop {
            let (names, next) = names(&published, modern(), cursor.as_deref());
            pages += 1;
            all.extend(names);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, ["a", "b", "c", "d", "e"], "R26-TOOL-18");
        assert_eq!(pages, if size == 0 { 1 } else { 5_usize.div_ceil(size) });
    }
}

/// R24-PAGE-04.
#[test]
fn a_cursor_survives_what_is_declared_and_withdrawn_meanwhile() {
    let (_, cursor) = names(&published(tools(&["a", "b", "c"], 2)), modern(), None);
    let more = published(tools(&["a", "aa", "b", "bb", "c"], 2));
    assert_eq!(names(&more, modern(), cursor.as_deref()).0, ["bb", "c"]);
    let less = published(tools(&["a", "c"], 2));
    assert_eq!(names(&less, modern(), cursor.as_deref()).0, ["c"]);
    let other = published(tools(&["a"], 2));
    assert_eq!(names(&other, modern(), cursor.as_deref()), (vec![], None));
}

/// R24-PAGE-05: also the empty one, and one of another list.
#[test]
fn a_foreign_cursor_is_refused() {
    let mut catalog = tools(&["a", "b"], 1);
    for name in ["a", "b"] {
        catalog.insert_prompt(Prompt::new(name));
    }
    let published = published(catalog);
    let (_, of_tools) = names(&published, modern(), None);
    for (method, cursor) in [
        ("tools/list", ""),
        ("tools/list", "garbage"),
        ("tools/list", "YWJj"),
        ("tools/list", "!"),
        ("prompts/list", &of_tools.unwrap()),
    ] {
        let call = call(modern(), method, &format!(r#""cursor":"{cursor}""#));
        let mut out = b"kept".to_vec();
        let failure = published.write_listing(modern(), &call, &mut out).unwrap_err();
        assert_eq!(failure.kind, FailureKind::InvalidParams, "{cursor}");
        assert_eq!(out, b"kept");
    }
}

#[test]
fn a_tool_is_hidden_from_older_revisions_and_then_unknown_to_them() {
    let mut catalog = tools(&["old"], 0);
    let mut new = tool("new");
    new.min_revision = Some("2025-06-18".into());
    catalog.insert_tool(new);
    let published = published(catalog);
    let seen = |version| {
        let adapter = adapter(version);
        assert!(published.tool(adapter, "old").is_some());
        (names(&published, adapter, None).0.len(), published.tool(adapter, "new").is_some())
    };
    assert_eq!(seen("2024-11-05"), (1, false));
    assert_eq!(seen("2025-03-26"), (1, false));
    assert_eq!(seen("2025-06-18"), (2, true));
    assert_eq!(seen("2026-07-28"), (2, true));
}

/// R26-PAGE-07, R26-CACHE-01, R26-RPC-23, R26-META-12; and nothing of it before.
#[test]
fn a_list_carries_what_its_revision_wants_on_results() {
    let mut catalog = tools(&["a"], 0);
    catalog.cache = CacheHint { ttl_ms: 5000, scope: CacheScope::Public };
    catalog.insert_prompt(Prompt::new("p"));
    catalog.insert_resource(Resource::new("a:b", "r"));
    catalog.insert_template(ResourceTemplate::new(UriTemplate::parse("a:{b}").unwrap(), "t"));
    let published = published(catalog);
    for (method, member) in [
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
    ] {
        let result = listed(&published, modern(), method);
        assert_eq!(result[member].as_array().unwrap().len(), 1);
        assert_eq!(result["resultType"], "complete");
        assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&5000.into(), &"public".into()));
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "demo");
        for adapter in handshakes() {
            let result = listed(&published, adapter, method);
            assert_eq!(result.as_object().unwrap().keys().collect::<Vec<_>>(), [member]);
        }
    }
}

/// R26-RPC-15: no capability, no method.
#[test]
fn nothing_declared_is_nothing_to_list() {
    let published = published(catalog());
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list"] {
        for adapter in Revision::ALL.map(Revision::adapter) {
            let call = call(adapter, method, "");
            let failure = published.write_listing(adapter, &call, &mut Vec::new()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::UnknownMethod);
        }
    }
    assert!(!published.offers(modern(), Operation::Complete));
    assert!(!published.offers(modern(), Operation::Ping));
    assert!(published.offers(modern(), Operation::Describe));
    // A resource alone makes the list of templates an empty one, as one capability is for both.
    let mut catalog = catalog();
    catalog.insert_resource(Resource::new("a:b", "r"));
    let published = super::support::published(catalog);
    assert_eq!(
        listed(&published, modern(), "resources/templates/list")["resourceTemplates"],
        serde_json::json!([])
    );
}

#[test]
fn declarations_lose_what_a_revision_has_no_word_for() {
    let mut catalog = catalog();
    let mut declared = tool("t");
    declared.title = Some("T".into());
    declared.hints.read_only = Some(true);
    declared.icons = vec![Icon::new("https://example.com/i.png")];
    declared.meta = Some(json(r#"{"k":1}"#));
    catalog.insert_tool(declared);
    let published = published(catalog);
    let members = |version| {
        let list = listed(&published, adapter(version), "tools/list");
        let tool = list["tools"][0].as_object().unwrap().clone();
        (super::support::names(&tool), tool)
    };
    assert_eq!(members("2024-11-05").0, "inputSchema name");
    let (keys, tool) = members("2025-03-26");
    assert_eq!(keys, "annotations inputSchema name");
    assert_eq!(tool["annotations"], serde_json::json!({"title": "T", "readOnlyHint": true}));
    let (keys, tool) = members("2025-06-18");
    assert_eq!(keys, "_meta annotations inputSchema name title");
    assert_eq!(tool["annotations"], serde_json::json!({"readOnlyHint": true}));
    assert_eq!(members("2025-11-25").0, "_meta annotations icons inputSchema name title");
    assert_eq!(members("2026-07-28").0, members("2025-11-25").0);
}
