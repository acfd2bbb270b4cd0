//! Asking by every mechanism, through real machines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::{Either, poll_fn, select, try_join};
use serde_json::{Value, json};

use super::super::tests::talk::{REVISIONS, Served, accept, action, talk, talk_at, text};
use super::super::world::VirtualTime;
use super::super::{NeedInput, Registry, Service, prompt, resource, tool};
use super::*;
use crate::model::{elicit_decline, elicit_url, list_roots, sample};
use core::time::Duration;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Person {
    name: String,
}

fn all() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

fn service() -> Service {
    Registry::new("test", "1")
        .tool(
            tool("confirm", |ex: Exchange| async move {
                let answer = ex.ask("sure", elicit("Sure?")).await?;
                let seen = (ex.answered("sure"), ex.accepted("sure"), ex.action("sure"));
                assert_eq!(seen, (true, answer.accepted(), Some(answer.action())));
                Ok::<_, Error>(answer.action().to_string())
            })
            .asks(),
        )
        .tool(
            tool("name", |ex: Exchange| async move {
                let answer = ex.ask("who", form::<Person>("Who?")?).await?;
                Ok::<_, Error>(match answer.accepted() {
                    true => answer.content::<Person>()?.name,
                    false => "nobody".into(),
                })
            })
            .asks(),
        )
        .tool(
            tool("both", |ex: Exchange| async move {
                let one = ex.ask("one", elicit("One?"));
                let (one, two) = try_join(one, ex.ask("two", elicit("Two?"))).await?;
                Ok::<_, Error>(format!("{} {}", one.action(), two.action()))
            })
            .asks(),
        )
        .tool(
            tool("steps", |ex: Exchange| async move {
                let mut said = Vec::new();
                for step in 1..=3 {
                    let key = format!("step{step}");
                    said.push(
                        ex.ask(key, elicit(format!("Step {step}?"))).await?.action().as_str(),
                    );
                }
                Ok::<_, Error>(said.join(" "))
            })
            .asks(),
        )
        .tool(
            tool("default", |ex: Exchange| async move {
                let answer = ex.ask("sure", elicit("Sure?")).default(elicit_decline()).await?;
                Ok::<_, Error>(format!("{} {}", ex.can_ask(), answer.action()))
            })
            .asks(),
        )
        .tool(tool("silent", |ex: Exchange| async move {
            Ok::<_, Error>(ex.ask("sure", elicit("Sure?")).await?.action().to_string())
        }))
        .tool(tool("others", |ex: Exchange| async move {
            let model = ex.ask("model", sample("Capital?", 100)).await?.sampled()?;
            let roots = ex.ask("roots", list_roots()).await?.roots()?;
            Ok::<_, Error>(format!("{} {}", model.text(), roots.roots.len()))
        }))
        .tool(
            tool("roots", |ex: Exchange| async move {
                let roots = ex.ask("roots", list_roots()).await?.roots()?;
                Ok::<_, Error>(roots.roots.len().to_string())
            })
            .asks(),
        )
        .tool(
            tool("link", |ex: Exchange| async move {
                match ex.ask("link", elicit_url("Sign in.", "https://a.example/")).await {
                    Ok(answer) => Ok::<_, Error>(answer.action().to_string()),
                    Err(error) => Ok(format!("{:?}", error.bad_answer())),
                }
            })
            .asks(),
        )
        .tool(
            tool("explicit", |ex: Exchange| async move {
                let state = ex.state::<u32>()?.unwrap_or_default();
                let key = format!("step{state}");
                if state < 2 {
                    let question = elicit(format!("Step {state}?"));
                    return Err(NeedInput::new().ask(key, question).state(&(state + 1))?.into());
                }
                Ok::<_, Error>(format!("{} {}", ex.accepted("step0"), ex.accepted("step1")))
            })
            .asks(),
        )
        .tool(
            tool("stateless", |ex: Exchange| async move {
                let question = form::<Person>("Who?")?.into();
                match ex.given("who", &question) {
                    Some(Ok(answer)) => Ok(answer.content::<Person>()?.name),
                    _ => Err::<_, Error>(NeedInput::new().ask("who", question).into()),
                }
            })
            .asks(),
        )
        .prompt(prompt("ask", |ex: Exchange| async move {
            let answer = ex.ask("sure", elicit("Sure?")).await?;
            Ok::<_, Error>(answer.action().to_string())
        }))
        .resource(
            "a://b",
            resource(|ex: Exchange| async move {
                match ex.told("sure") {
                    Some(answer) => Ok(answer.action().to_string()),
                    None => {
                        Err::<_, Error>(NeedInput::new().ask("sure", elicit("Sure?")).kept().into())
                    }
                }
            }),
        )
        .build()
        .expect("valid")
}

/// Whether the client is told in a result, rather than asked while the call goes on.
fn by_rounds(revision: &str) -> bool {
    !matches!(revision, "2025-06-18" | "2025-11-25")
}

#[test]
fn each_mechanism_brings_each_answer_back() {
    // R2506-ELIC-09, R26-MRTR-02, R26-ELIC-10
    let service = service();
    for revision in REVISIONS {
        for said in ["accept", "decline", "cancel"] {
            let answer = talk(&service, revision, all(), |mut talk| async move {
                talk.call("confirm", |_, _| action(said)).await
            });
            assert_eq!(text(&answer), said, "{revision}: {answer}");
        }
        let answer = talk(&service, revision, all(), |mut talk| async move {
            talk.call("name", |_, _| accept(json!({ "name": "Ada" }))).await
        });
        assert_eq!(text(&answer), "Ada", "{revision}: {answer}");
    }
}

#[test]
fn questions_at_once_make_one_round_and_those_after_another_several() {
    let service = service();
    for revision in REVISIONS {
        let (answer, asked) = talk(&service, revision, all(), |mut talk| async move {
            let answer = talk.call("both", |_, _| action("accept")).await;
            (answer, talk.asked.join(" "))
        });
        assert_eq!(text(&answer), "accept accept", "{revision}: {answer}");
        let wanted = if by_rounds(revision) { "One? Two? |" } else { "One? Two?" };
        assert_eq!(asked, wanted, "{revision}");

        let (answer, asked) = talk(&service, revision, all(), |mut talk| async move {
            let answer = talk.call("steps", |_, _| action("accept")).await;
            (answer, talk.asked.join(" "))
        });
        assert_eq!(text(&answer), "accept accept accept", "{revision}: {answer}");
        let wanted = match by_rounds(revision) {
            true => "Step 1? | Step 2? | Step 3? |",
            false => "Step 1? Step 2? Step 3?",
        };
        assert_eq!(asked, wanted, "{revision}");
    }
}

#[test]
fn what_is_no_answer_is_asked_anew_or_fails_and_is_never_consent() {
    // R2506-ELIC-10, T-70
    let service = service();
    for revision in REVISIONS {
        for bad in [
            json!({ "error": { "code": -1, "message": "rejected" } }),
            json!({ "result": {} }),
            json!({ "result": { "action": "yes" } }),
            json!({ "result": { "action": "accept", "content": { "name": 7 } } }),
            json!({ "result": { "action": "accept" } }),
        ] {
            let mut tries = 0;
            let (answer, asked) = talk(&service, revision, all(), |mut talk| async move {
                let answer = talk
                    .call("name", |_, _| {
                        tries += 1;
                        if tries == 1 { bad.clone() } else { action("decline") }
                    })
                    .await;
                (answer, talk.asked.join(" "))
            });
            if by_rounds(revision) {
                assert_eq!((text(&answer).as_str(), asked.as_str()), ("nobody", "Who? | Who? |"));
            } else {
                assert!(text(&answer).starts_with("error: the "), "{revision}: {answer}");
                assert_eq!(asked, "Who?", "{revision}");
            }
        }
    }
}

#[test]
fn a_client_that_cannot_be_asked_gets_the_default_or_the_failure_that_its_revision_names() {
    // R26-META-11, T-21
    let service = service();
    for revision in REVISIONS {
        let asks = |tool: &'static str| {
            talk(&service, revision, json!({}), |mut talk| async move {
                text(&talk.call(tool, |_, _| action("accept")).await)
            })
        };
        let (default, failed) = (asks("default"), asks("silent"));
        match revision {
            "2026-07-28" => assert_eq!(default, "false decline"),
            // A tool that asks in its arguments needs no capability.
            _ => assert_eq!(default, "true accept", "{revision}"),
        }
        match revision {
            "2026-07-28" => {
                let data = r#""data":{"requiredCapabilities":{"elicitation":{"form":{}}}}"#;
                assert!(failed.contains(data) && failed.contains("-32021"), "{failed}");
            }
            "2024-11-05" | "2025-03-26" => {
                assert_eq!(failed, "error: this call cannot ask its client for input");
            }
            _ => {
                let lacks = "this needs to ask, and the client declares no `elicitation`";
                assert_eq!(failed, format!("error: {lacks}"), "{revision}");
            }
        }
    }
}

/// How a tool that `.asks()` fares with each client: by the client's capabilities.
#[test]
fn every_client_of_a_handshake_is_asked_in_some_way_and_what_lacks_is_named() {
    let service = service();
    let clients = [
        (json!({}), "elicitation"),
        (json!({ "roots": {} }), "elicitation"),
        (json!({ "sampling": { "tools": {} } }), "elicitation"),
        (json!({ "elicitation": { "url": {} } }), "elicitation.form"),
        (json!({ "elicitation": {} }), ""),
        (json!({ "elicitation": { "form": {}, "url": {} } }), ""),
    ];
    for revision in REVISIONS {
        for (capabilities, lacks) in &clients {
            let what = format!("{revision} {capabilities}");
            let (listed, answer, asked) =
                talk(&service, revision, capabilities.clone(), |mut talk| async move {
                    talk.request("tools/list", json!({})).await;
                    let listed = talk.receive().await.to_string();
                    let answer = talk.call("confirm", |_, _| action("accept")).await;
                    (listed, answer, talk.asked.join(" "))
                });
            let always = matches!(revision, "2024-11-05" | "2025-03-26");
            let never = revision == "2026-07-28";
            let in_arguments = always || !never && *lacks == "elicitation";
            assert_eq!(listed.contains("input_responses"), in_arguments, "{what}");
            if in_arguments {
                assert_eq!(
                    (text(&answer).as_str(), asked.as_str()),
                    ("accept", "Sure? |"),
                    "{what}"
                );
            } else if lacks.is_empty() {
                assert_eq!(text(&answer), "accept", "{what}");
                assert_eq!(asked, if never { "Sure? |" } else { "Sure?" }, "{what}");
            } else if never {
                assert_eq!(answer["error"]["code"], -32021, "{what}");
                let form = json!({ "requiredCapabilities": { "elicitation": { "form": {} } } });
                assert_eq!(answer["error"]["data"], form, "{what}");
            } else {
                let why = format!("this needs to ask, and the client declares no `{lacks}`");
                assert_eq!(text(&answer), format!("error: {why}"), "{what}");
            }
        }
    }
}

#[test]
fn a_client_is_asked_in_arguments_only_where_that_is_wanted() {
    let service = service();
    for revision in ["2025-06-18", "2025-11-25"] {
        let served = Served::new(&service).never_in_arguments();
        let (listed, answer) = served.talk(revision, json!({}), |mut talk| async move {
            talk.request("tools/list", json!({})).await;
            let listed = talk.receive().await.to_string();
            (listed, talk.call("confirm", |_, _| action("accept")).await)
        });
        assert!(!listed.contains("input_responses"), "{revision}");
        assert!(text(&answer).starts_with("error: this needs to ask"), "{revision}: {answer}");
    }
}

/// R26-META-11: models and roots, and all that lacks at once.
#[test]
fn what_a_client_lacks_for_models_and_roots_is_named_too() {
    let both = Registry::new("test", "1")
        .tool(tool("both", |ex: Exchange| async move {
            let model = ex.ask("model", sample("Capital?", 100));
            let answers = try_join(model, ex.ask("roots", list_roots())).await?;
            Ok::<_, Error>(answers.1.action().to_string())
        }))
        .tool(tool("many", |ex: Exchange| async move {
            let schema = json!({ "type": "object", "properties": { "all": {
                "type": "array", "items": { "type": "string", "enum": ["a", "b"] },
            } } });
            let schema = FormSchema::from_json(schema.into())?;
            let answer = ex.ask("many", elicit("Which?").schema(schema)).await?;
            Ok::<_, Error>(answer.action().to_string())
        }))
        .build()
        .expect("valid");
    for revision in REVISIONS {
        let tried = |tool: &'static str, capabilities: Value| {
            talk(&both, revision, capabilities, |mut talk| async move {
                talk.call(tool, |_, _| action("accept")).await
            })
        };
        let nothing = tried("both", json!({}));
        if revision == "2026-07-28" {
            let data = json!({ "requiredCapabilities": { "sampling": {} } });
            assert_eq!(nothing["error"]["data"], data, "{revision}: {nothing}");
            continue;
        }
        let said = text(&nothing);
        assert_eq!(said, "error: this needs to ask, and the client declares no `sampling`");
        let said = text(&tried("both", json!({ "sampling": {} })));
        let roots = "error: this needs to ask, and the client declares no `roots`";
        assert_eq!(said, roots, "{revision}");
    }
    let many = talk(&both, "2025-06-18", all(), |mut talk| async move {
        talk.call("many", |_, _| action("accept")).await
    });
    let said = text(&many);
    assert!(said.contains("no form field of several options, as `all` is"), "{said}");
}

#[test]
fn models_and_roots_are_asked_where_the_revision_has_a_way() {
    // R24-SAMP-03, R24-ROOT-02
    let service = service();
    for revision in REVISIONS {
        let answer = talk(&service, revision, all(), |mut talk| async move {
            talk.call("others", |method, _| match method {
                "roots/list" => json!({ "result": { "roots": [{ "uri": "file:///a" }] } }),
                _ => json!({ "result": {
                    "role": "assistant", "model": "m",
                    "content": { "type": "text", "text": "Paris" },
                } }),
            })
            .await
        });
        assert_eq!(text(&answer), "Paris 1", "{revision}: {answer}");
    }
}

#[test]
fn the_explicit_form_carries_state_through_every_mechanism() {
    // R26-MRTR-02
    let service = service();
    for revision in REVISIONS {
        for (tool, wanted) in [("explicit", "true true"), ("stateless", "Ada")] {
            let answer = talk(&service, revision, all(), |mut talk| async move {
                talk.call(tool, |_, params| match params["message"].as_str() {
                    Some("Who?") => accept(json!({ "name": "Ada" })),
                    _ => action("accept"),
                })
                .await
            });
            assert_eq!(text(&answer), wanted, "{revision}: {answer}");
        }
    }
}

#[test]
fn what_the_server_does_not_keep_leaves_no_state_and_may_come_unasked() {
    // R26-MRTR-17
    let service = service();
    let params = json!({ "name": "stateless" });
    let (asked, answered) = talk(&service, "2026-07-28", all(), |mut talk| async move {
        talk.request("tools/call", params.clone()).await;
        let asked = talk.receive().await;
        let mut again = params;
        again["inputResponses"] = json!({
            "who": { "action": "accept", "content": { "name": "Alice" } }, "other": {},
        });
        talk.request("tools/call", again).await;
        (asked, talk.receive().await)
    });
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert!(asked["result"].get("requestState").is_none(), "{asked}");
    assert_eq!(text(&answered), "Alice", "{answered}");
}

#[test]
fn prompts_and_resources_ask_where_their_revision_lets_them() {
    let service = service();
    for revision in REVISIONS {
        let ends = |method: &'static str, params: Value| {
            talk(&service, revision, all(), |mut talk| async move {
                talk.finish(method, params, |_, _| action("decline")).await.to_string()
            })
        };
        let prompt = ends("prompts/get", json!({ "name": "ask" }));
        let resource = ends("resources/read", json!({ "uri": "a://b" }));
        for ended in [prompt, resource] {
            // The model can put questions in the arguments of tools only.
            let wanted = match revision {
                "2024-11-05" | "2025-03-26" => "cannot ask",
                _ => "decline",
            };
            assert!(ended.contains(wanted), "{revision}: {ended}");
        }
    }
}

/// R26-ELIC-10: it is no cancel, nor a malformed answer.
#[test]
fn a_question_that_nobody_answers_in_time_timed_out_whatever_was_asked() {
    let service = service();
    let modes = json!({ "form": {}, "url": {} });
    let can = json!({ "elicitation": modes, "sampling": {}, "roots": {} });
    let timed_out = "error: nobody answered the question in time";
    let questions = [
        ("confirm", timed_out),
        ("name", timed_out),
        ("default", timed_out),
        ("others", timed_out),
        ("roots", timed_out),
        ("explicit", timed_out),
        ("link", "Some(TimedOut)"),
    ];
    for (revision, has_urls) in [("2025-06-18", false), ("2025-11-25", true)] {
        for (tool, expected) in
            questions.into_iter().filter(|(tool, _)| has_urls || *tool != "link")
        {
            let time = VirtualTime::default();
            let (answer, withdrawn) =
                talk_at(&time, &service, revision, can.clone(), |mut talk| async move {
                    (talk.call(tool, |_, _| Value::Null).await, talk.withdrawn)
                });
            assert_eq!((text(&answer).as_str(), withdrawn), (expected, 1), "{revision} {tool}");
            assert_eq!(time.time().as_micros(), 20_000_000);
        }
    }
}

#[test]
fn a_question_that_is_not_waited_for_any_more_is_withdrawn() {
    let time = VirtualTime::default();
    let clock = time.clone();
    let service = Registry::new("test", "1")
        .tool(
            tool("hurry", move |ex: Exchange| {
                let clock = clock.clone();
                async move {
                    let late = Box::pin(clock.sleep(Duration::from_secs(3)));
                    let first = select(ex.ask("sure", elicit("Sure?")), late).await;
                    let said = match first {
                        Either::Left((answer, _)) => answer?.action().to_string(),
                        Either::Right(((), ask)) => {
                            drop(ask);
                            "too late".into()
                        }
                    };
                    clock.sleep(Duration::from_secs(1)).await;
                    Ok::<_, Error>(said)
                }
            })
            .asks(),
        )
        .build()
        .expect("valid");
    let (answer, withdrawn) =
        talk_at(&time, &service, "2025-11-25", all(), |mut talk| async move {
            (talk.call("hurry", |_, _| Value::Null).await, talk.withdrawn)
        });
    assert_eq!((text(&answer).as_str(), withdrawn), ("too late", 1), "{answer}");
}

#[test]
fn a_handler_that_is_done_in_the_poll_that_asked_has_the_last_word() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let service = Registry::new("test", "1")
        .tool(
            tool("rush", move |ex: Exchange| {
                let counted = Arc::clone(&counted);
                async move {
                    counted.fetch_add(1, Ordering::Relaxed);
                    let mut ask = Box::pin(ex.ask("sure", elicit("Sure?")));
                    let polled = poll_fn(|cx| Poll::Ready(ask.as_mut().poll(cx))).await;
                    format!("{}", polled.is_pending())
                }
            })
            .asks(),
        )
        .build()
        .expect("valid");
    for revision in REVISIONS {
        let (answer, asked) = talk(&service, revision, all(), |mut talk| async move {
            (talk.call("rush", |_, _| Value::Null).await, talk.asked.len())
        });
        assert_eq!(text(&answer), "true", "{revision}: {answer}");
        assert!(asked <= usize::from(!by_rounds(revision)), "{revision}");
    }
    assert_eq!(runs.load(Ordering::Relaxed), REVISIONS.len());
}

#[test]
fn tools_that_ask_in_arguments_say_so_in_their_schema_where_that_is_how() {
    let service = service();
    for revision in REVISIONS {
        let listed = talk(&service, revision, all(), |mut talk| async move {
            talk.request("tools/list", json!({})).await;
            talk.receive().await
        });
        for tool in listed["result"]["tools"].as_array().expect("tools") {
            let properties = &tool["inputSchema"]["properties"];
            let asks = !matches!(tool["name"].as_str(), Some("silent" | "others"));
            let wanted = asks && matches!(revision, "2024-11-05" | "2025-03-26");
            assert_eq!(properties.get("input_responses").is_some(), wanted, "{revision}: {tool}");
        }
    }
}

#[test]
fn a_tool_whose_own_arguments_are_in_the_way_cannot_ask() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Taken {
        #[allow(dead_code)]
        request_state: String,
    }
    let taken = |_: super::super::Args<Taken>| async { "" };
    let built = Registry::new("test", "1").tool(tool("taken", taken).asks()).build();
    assert!(built.unwrap_err().to_string().contains("rename it"));
}

/// R24-PRMT-03: the setting, over the wire.
#[test]
fn scalars_for_a_prompt_are_refused_where_that_is_wanted() {
    use super::super::RawArgs;
    let declare = || {
        Registry::new("test", "1")
            .prompt(prompt("p", |RawArgs(it): RawArgs| async move { it.to_string() }))
    };
    let strict = declare().strict_prompt_arguments().build().expect("valid");
    let lenient = declare().build().expect("valid");
    for revision in REVISIONS {
        for (arguments, sent, passes) in [
            (json!({ "n": 5 }), r#"{"n":"5"}"#, false),
            (json!({ "n": true }), r#"{"n":"true"}"#, false),
            (json!({ "n": null }), "{}", false),
            (json!({ "n": "x" }), r#"{"n":"x"}"#, true),
        ] {
            let get = |service: &Service| {
                let params = json!({ "name": "p", "arguments": arguments });
                talk(service, revision, json!({}), |mut talk| async move {
                    talk.request("prompts/get", params).await;
                    talk.receive().await
                })
            };
            let said = get(&lenient)["result"]["messages"][0]["content"]["text"].take();
            assert_eq!(said, sent, "{revision} {arguments}");
            let answer = get(&strict);
            assert_eq!(answer["result"].is_object(), passes, "{revision} {answer}");
            if !passes {
                assert_eq!(answer["error"]["code"], -32602, "{revision} {answer}");
            }
        }
        let params = json!({ "name": "p", "arguments": { "n": { "a": 1 } } });
        let answer = talk(&lenient, revision, json!({}), |mut talk| async move {
            talk.request("prompts/get", params).await;
            talk.receive().await
        });
        assert_eq!(answer["error"]["code"], -32602, "{revision} {answer}");
    }
}
