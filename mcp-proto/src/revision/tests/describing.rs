use serde_json::json;

use super::support::{adapter, catalog, described, handshakes, modern, published, tool};
use crate::model::{Prompt, Resource};
use crate::revision::Revision;

/// R24-LIFE-02, R24-LIFE-16, R2511-LIFE-16.
#[test]
fn a_handshake_is_answered_with_version_capabilities_and_server() {
    let mut catalog = catalog();
    catalog.server.title = Some("Demo".into());
    catalog.server.website_url = Some("https://example.com".into());
    catalog.instructions = Some("Add \"numbers\".".into());
    let published = published(catalog);
    for adapter in handshakes() {
        let result = described(&published, adapter);
        assert_eq!(result["protocolVersion"], adapter.version);
        assert_eq!(result["capabilities"], json!({}));
        assert_eq!(result["instructions"], "Add \"numbers\".");
        assert_eq!(result.as_object().unwrap().len(), 4);
    }
    let info = |version| described(&published, adapter(version))["serverInfo"].take();
    assert_eq!(info("2025-03-26"), json!({"name": "demo", "version": "1.0"}));
    assert_eq!(info("2025-06-18"), json!({"name": "demo", "version": "1.0", "title": "Demo"}));
    assert_eq!(info("2025-11-25")["websiteUrl"], "https://example.com");
}

/// R26-DISC-03, R26-DISC-04, T-22.
#[test]
fn a_discovery_is_answered_with_the_versions_there_are() {
    let result = described(&published(catalog()), modern());
    let versions: Vec<_> = Revision::ALL.iter().rev().map(|it| it.as_str()).collect();
    assert_eq!(result["supportedVersions"], json!(versions));
    assert_eq!(result["resultType"], "complete");
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(0), &json!("private")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.0");
    assert!(result.get("serverInfo").is_none() && result.get("protocolVersion").is_none());
}

/// R24-CAP-04, T-64, R26-EXT-01, R26-CAP-02.
#[test]
fn capabilities_follow_from_what_is_declared() {
    let mut catalog = catalog();
    let mut late = tool("t");
    late.min_revision = Some("2025-06-18".into());
    catalog.insert_tool(late);
    catalog.insert_prompt(Prompt::new("p"));
    catalog.insert_resource(Resource::new("a:b", "r"));
    catalog.features.completions = true;
    catalog.features.logging = true;
    catalog.features.extensions = vec![("com.example/x".into(), super::support::json("{}"))];
    let published = published(catalog);
    let of = |version| {
        let result = described(&published, adapter(version));
        super::support::names(result["capabilities"].as_object().unwrap())
    };
    assert_eq!(of("2024-11-05"), "logging prompts resources");
    assert_eq!(of("2025-03-26"), "completions logging prompts resources");
    assert_eq!(of("2025-06-18"), "completions logging prompts resources tools");
    assert_eq!(of("2026-07-28"), "completions extensions logging prompts resources tools");
}
