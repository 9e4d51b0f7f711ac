//! Lists of records: one page as JSON, or all pages as CSV or JSON lines while they are read.

use futures_util::{StreamExt as _, stream};
use gateway::ApiReply;
use rest::{Cursor, ExportRow, ListFormat, PageRequest, RestError};

use super::errors::unavailable;
use super::json;

/// Entries that an export reads at once, so that its memory is bounded.
const AT_ONCE: usize = 200;

/// One page of a list.
pub(super) struct ListPage<V> {
    pub(super) entries: Vec<V>,
    /// Where the next page begins; `None` after the last one.
    pub(super) next: Option<Cursor>,
}

impl<V> ListPage<V> {
    pub(super) fn empty() -> ListPage<V> {
        ListPage {
            entries: Vec::new(),
            next: None,
        }
    }
}

/// Answers with the page that is asked for, or exports all pages. The first page of an export is read before the
/// answer begins; a page that cannot be read ends the answer without its end.
pub(super) async fn reply<V, R>(
    format: ListFormat,
    page: PageRequest,
    read: impl Fn(PageRequest) -> R + Send + 'static,
) -> Result<ApiReply, RestError>
where
    V: ExportRow + Send + 'static,
    R: Future<Output = Result<ListPage<V>, RestError>> + Send + 'static,
{
    if format == ListFormat::Json {
        let found = read(page).await?;
        let next = found.next.map(|cursor| cursor.to_string());
        return Ok(json(200, &found.entries)?.with_next_cursor(next));
    }
    let first = read(place(None)).await?;
    let head = format.head::<V>().map_err(|error| unavailable(&error))?;
    let entries = format.write(&first.entries);
    let begin = [head, entries.map_err(|error| unavailable(&error))?].concat();
    let rest = stream::try_unfold((first.next, read), move |(next, read)| async move {
        let Some(cursor) = next else { return Ok(None) };
        let found = read(place(Some(cursor))).await?;
        let part = format.write(&found.entries);
        let part = part.map_err(|error| unavailable(&error))?;
        Ok(Some((part, (found.next, read))))
    });
    let parts = stream::once(async move { Ok(begin) }).chain(rest);
    Ok(ApiReply::streamed(format.content_type(), parts.boxed()))
}

fn place(cursor: Option<Cursor>) -> PageRequest {
    PageRequest {
        limit: AT_ONCE,
        cursor,
    }
}
