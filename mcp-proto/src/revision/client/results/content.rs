//! Content blocks and contents of resources.

use super::declared::resource;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::{Reader, raw, text};
use crate::frame::json::{self};
use crate::model::{
    Annotations, Body, Content, Contents, Icon, PromptMessage, Role, View, elements, number,
};

impl Reader<'_> {
    pub(super) fn block(&mut self, object: &View<'_>) -> Result<Content, &'static str> {
        let annotations = annotations(object);
        let meta = raw(object, "_meta");
        let kind = object.string("type").ok_or("it has no `type`")?;
        Ok(match &*kind {
            "text" => {
                let text = text(object, "text").ok_or("it has no `text`")?;
                Content::Text { text, annotations, meta }
            }
            "image" => {
                let (data, mime_type) = media(object)?;
                Content::Image { data: data.into(), mime_type, annotations, meta }
            }
            "audio" => {
                let (data, mime_type) = media(object)?;
                Content::Audio { data: data.into(), mime_type, annotations, meta }
            }
            "resource" => {
                let resource = object.object("resource").ok_or("it has no `resource`")?;
                let contents = self.contents(&resource)?;
                // Their place is the block (R24-CONT-06); some servers put them on the resource.
                let annotations = annotations.or_else(|| self::annotations(&resource));
                Content::Resource { contents, annotations, meta }
            }
            "resource_link" => Content::Link(resource(object)?),
            // Content of later revisions is left out; the whole result is there (R24-CONT-07).
            _ => return Err("its type is unknown"),
        })
    }

    pub(super) fn contents(&mut self, object: &View<'_>) -> Result<Contents, &'static str> {
        let uri = text(object, "uri").ok_or("it has no `uri`")?;
        let body = match (text(object, "text"), object.string("blob")) {
            (Some(text), _) => Body::Text(text),
            (None, Some(blob)) => {
                Body::Blob(base64(&blob).ok_or("its `blob` is not Base64")?.into())
            }
            (None, None) => return Err("it has neither `text` nor `blob`"),
        };
        let mut contents = Contents::text(uri, "");
        contents.body = body;
        contents.mime_type = text(object, "mimeType");
        contents.meta = raw(object, "_meta");
        Ok(contents)
    }

    pub(super) fn message(&mut self, object: &View<'_>) -> Result<PromptMessage, &'static str> {
        let role = object.string("role").and_then(|name| role(&name)).ok_or("it has no `role`")?;
        let content = object.object("content").ok_or("it has no `content`")?;
        Ok(PromptMessage { role, content: self.block(&content)? })
    }
}

fn media(object: &View<'_>) -> Result<(Vec<u8>, String), &'static str> {
    let data = object.string("data").ok_or("it has no `data`")?;
    let data = base64(&data).ok_or("its `data` is not Base64")?;
    Ok((data, text(object, "mimeType").ok_or("it has no `mimeType`")?))
}

/// Base64 as servers in the field write it: in lines, without padding, in the alphabet for URLs.
fn base64(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    LENIENT.decode(text).ok().or_else(|| {
        let standard = |byte: u8| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        };
        let bytes = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(standard);
        LENIENT.decode(bytes.collect::<Vec<_>>()).ok()
    })
}

pub(super) fn size(object: &View<'_>) -> Option<u64> {
    object.get("size").and_then(json::integer).and_then(|size| u64::try_from(size).ok())
}

pub(super) fn annotations(object: &View<'_>) -> Option<Annotations> {
    let object = object.object("annotations")?;
    let mut annotations = Annotations::default();
    let audience = object.get("audience").into_iter().flat_map(elements);
    annotations.audience =
        audience.filter_map(json::string).filter_map(|name| role(&name)).collect();
    annotations.priority = object.get("priority").and_then(number);
    annotations.last_modified = text(&object, "lastModified");
    Some(annotations)
}

/// Icons as they are told. Whoever fetches one checks where it leads (R26-ICON-04).
pub(super) fn icons(object: &View<'_>) -> Vec<Icon> {
    let icon = |icon: &[u8]| {
        let object = View::of(icon)?;
        let mut icon = Icon::new(text(&object, "src")?);
        icon.mime_type = text(&object, "mimeType");
        let sizes = object.get("sizes").into_iter().flat_map(elements);
        icon.sizes = sizes.filter_map(json::string).map(|size| size.into_owned()).collect();
        icon.theme = text(&object, "theme");
        Some(icon)
    };
    object.get("icons").into_iter().flat_map(elements).filter_map(icon).collect()
}

fn role(name: &str) -> Option<Role> {
    [Role::User, Role::Assistant].into_iter().find(|role| role.as_str() == name)
}
