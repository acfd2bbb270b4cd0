//! Writing compact JSON straight into a caller's buffer, without a tree in between.

use super::json::write_string;

/// An object under construction. Members appear in the order in which they are added.
///
/// ```
/// use mcp_proto::frame::writer::Object;
///
/// let mut out = Vec::new();
/// let mut object = Object::begin(&mut out);
/// object.string("name", "add").number("size", 3);
/// object.object("annotations", |hints| {
///     hints.boolean("readOnlyHint", true);
/// });
/// object.end();
/// assert_eq!(out, br#"{"name":"add","size":3,"annotations":{"readOnlyHint":true}}"#);
/// ```
#[derive(Debug)]
#[must_use = "an object is complete only after `end`"]
pub struct Object<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Object<'a> {
    /// Opens an object at the end of `out`.
    pub fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Closes the object.
    pub fn end(self) {
        self.out.push(b'}');
    }

    /// Writes a member's name and hands out the buffer for exactly one value.
    pub fn value(&mut self, name: &str) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        write_string(self.out, name);
        self.out.push(b':');
        self.out
    }

    /// Adds a string member.
    pub fn string(&mut self, name: &str, value: &str) -> &mut Self {
        write_string(self.value(name), value);
        self
    }

    /// Adds a string member where there is one.
    pub fn string_if(&mut self, name: &str, value: Option<&str>) -> &mut Self {
        if let Some(value) = value {
            self.string(name, value);
        }
        self
    }

    /// Adds a member whose value is JSON text already.
    pub fn raw(&mut self, name: &str, json: &[u8]) -> &mut Self {
        self.value(name).extend_from_slice(json);
        self
    }

    /// Adds a member of JSON text where there is one.
    pub fn raw_if(&mut self, name: &str, json: Option<&[u8]>) -> &mut Self {
        if let Some(json) = json {
            self.raw(name, json);
        }
        self
    }

    /// Adds a boolean member.
    pub fn boolean(&mut self, name: &str, value: bool) -> &mut Self {
        self.raw(name, if value { b"true" } else { b"false" })
    }

    /// Adds an integer member.
    pub fn number(&mut self, name: &str, value: impl itoa::Integer) -> &mut Self {
        self.raw(name, itoa::Buffer::new().format(value).as_bytes())
    }

    /// Adds a floating-point member, as an integer where it is one; what JSON cannot say
    /// (NaN, infinities) is left out.
    pub fn float(&mut self, name: &str, value: f64) -> &mut Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() < EXACT {
            self.number(name, value as i64);
        } else if let Ok(text) = serde_json::to_string(&value)
            && value.is_finite()
        {
            self.raw(name, text.as_bytes());
        }
        self
    }

    /// Adds an object member that `fill` writes.
    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        let mut inner = Object::begin(self.value(name));
        fill(&mut inner);
        inner.end();
        self
    }

    /// Adds an array member with one element for each of `items`, written by `write`.
    pub fn array<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        write: impl FnMut(T, &mut Vec<u8>),
    ) -> &mut Self {
        array(self.value(name), items, write);
        self
    }
}

/// Appends an array with one element for each of `items`, written by `write`.
pub fn array<T>(
    out: &mut Vec<u8>,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'[');
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_integers_where_they_can_be_and_never_invalid_json() {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        object.float("a", 100.0).float("b", 0.5).float("c", f64::NAN).float("d", -3.0);
        object.end();
        assert_eq!(out, br#"{"a":100,"b":0.5,"d":-3}"#);
    }

    #[test]
    fn arrays_nest_and_optional_members_are_left_out() {
        let mut out = Vec::new();
        let mut object = Object::begin(&mut out);
        object.string_if("none", None).raw_if("none", None);
        object.array("names", ["a", "b"], |name, out| write_string(out, name));
        object.end();
        assert_eq!(out, br#"{"names":["a","b"]}"#);
    }
}
