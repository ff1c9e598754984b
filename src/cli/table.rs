//! Tables for people, and the same rows as plain lines for programs: pure.

/// Tells how rows are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Cells between tabs, without a head: for programs.
    Lines,
    /// Columns under a head.
    Table {
        /// Whether the terminal shows colors, and its user wants them.
        color: bool,
    },
}

/// Tells how the cells of a column stand under each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
    /// Decimal points under each other.
    Point,
}

/// Tells what a cell means to the eye.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    /// The best of its column: marked with a star, and in green.
    Best,
    /// Something is wrong here: in red.
    Bad,
}

/// Holds a text, as it is printed to programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// Makes a cell. Control characters of whoever wrote the text never reach a terminal, nor do they break a line.
    pub(super) fn new(text: &str, tone: Tone) -> Self {
        Self { text: text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect(), tone }
    }

    /// Makes a cell without a meaning to the eye.
    pub(super) fn plain(text: impl ToString) -> Self {
        Self::new(&text.to_string(), Tone::Plain)
    }

    /// Makes a cell of what may be absent.
    pub(super) fn maybe(value: Option<impl ToString>) -> Self {
        value.map_or_else(|| Self::plain(""), Self::plain)
    }
}

/// Holds rows under named columns.
#[derive(Clone, Debug)]
pub(super) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Makes a table without rows.
    pub(super) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row: a cell for each column.
    pub(super) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push(row);
    }

    /// Prints the rows; nothing where there are none.
    pub(super) fn render(&self, look: Look) -> String {
        match look {
            _ if self.rows.is_empty() => String::new(),
            Look::Lines => self.rows.iter().map(|row| joined(row.iter().map(|cell| cell.text.clone()), "\t")).collect(),
            Look::Table { color } => self.table(color),
        }
    }

    fn table(&self, color: bool) -> String {
        // A column that says nothing is left out.
        let columns: Vec<Vec<String>> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, (name, align))| (name, align, self.rows.iter().filter_map(|row| row.get(at)).collect::<Vec<_>>()))
            .filter(|(.., cells)| cells.iter().any(|cell| !cell.text.is_empty()))
            .map(|(name, align, cells)| column(name, *align, &cells, color))
            .collect();
        let lines = 0..=self.rows.len();
        lines.map(|line| joined(columns.iter().filter_map(|column| column.get(line).cloned()), "  ")).collect()
    }
}

fn joined(cells: impl Iterator<Item = String>, between: &str) -> String {
    let line = cells.collect::<Vec<_>>().join(between);
    // Spaces at the end of a line would only make it wrap; a tab there is an empty cell.
    format!("{}\n", line.trim_end_matches(' '))
}

/// Lays out the head and the cells of a column, all of the same width.
fn column(name: &str, align: Align, cells: &[&Cell], color: bool) -> Vec<String> {
    let starred = cells.iter().any(|cell| cell.tone == Tone::Best);
    let texts: Vec<String> = cells.iter().map(|cell| shown(cell, align, starred)).collect();
    let split = |text: &str| {
        let at = if align == Align::Point { text.find(['.', '*', ' ']).unwrap_or(text.len()) } else { text.len() };
        let (left, right) = text.split_at_checked(at).unwrap_or((text, ""));
        (width(left), width(right))
    };
    let most = |of: fn((usize, usize)) -> usize| texts.iter().map(|text| of(split(text))).max().unwrap_or(0);
    let (left_most, right_most) = (most(|(left, _)| left), most(|(_, right)| right));
    let whole = left_most.saturating_add(right_most).max(width(name));
    let head = pad(name, align, 0, whole);
    let body = texts.iter().zip(cells).map(|(text, cell)| {
        let (_, right) = split(text);
        paint(&pad(text, align, right_most.saturating_sub(right), whole), code(cell.tone), color)
    });
    std::iter::once(paint(&head, "1", color)).chain(body).collect()
}

/// Gives a cell's text as a person reads it: a dash where a number is absent, a star after the best.
fn shown(cell: &Cell, align: Align, starred: bool) -> String {
    let text = if cell.text.is_empty() && align != Align::Left { "-" } else { &cell.text };
    let mark = match (starred, cell.tone) {
        (true, Tone::Best) => "*",
        (true, _) => " ",
        (false, _) => "",
    };
    format!("{text}{mark}")
}

/// Fills with spaces up to a width; `after` of them come behind a text that does not stand left.
fn pad(text: &str, align: Align, after: usize, whole: usize) -> String {
    let left = whole.saturating_sub(width(text));
    let (before, after) = if align == Align::Left { (0, left) } else { (left.saturating_sub(after), after) };
    format!("{}{text}{}", " ".repeat(before), " ".repeat(after))
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn code(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Best => "32",
        Tone::Bad => "31",
    }
}

/// Colors a text by the code of a terminal, where there is one.
pub(super) fn paint(text: &str, code: &str, color: bool) -> String {
    if color && !code.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(&[("venue", Align::Left), ("bid", Align::Point), ("void", Align::Right), ("age", Align::Right)]);
        table.push(vec![Cell::plain("kraken"), Cell::new("67.125", Tone::Best), Cell::plain(""), Cell::plain(7)]);
        table.push(vec![Cell::plain("okx"), Cell::plain("100"), Cell::plain(""), Cell::maybe(None::<u64>)]);
        table
    }

    #[test]
    fn points_stand_under_each_other_and_an_empty_column_is_left_out() {
        let want = "venue        bid  age\nkraken   67.125*    7\nokx     100         -\n";
        assert_eq!(table().render(Look::Table { color: false }), want);
    }

    #[test]
    fn lines_have_every_cell_and_no_mark() {
        assert_eq!(table().render(Look::Lines), "kraken\t67.125\t\t7\nokx\t100\t\t\n");
    }

    #[test]
    fn color_changes_nothing_but_color() {
        let plain = table().render(Look::Table { color: false });
        let colored = table().render(Look::Table { color: true });
        let bare = ["1", "32", "31", "0"].iter().fold(colored.clone(), |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
        let trimmed: Vec<_> = bare.lines().map(str::trim_end).collect();
        assert_eq!((trimmed, colored.contains("\u{1b}[32m")), (plain.lines().collect(), true));
    }

    #[test]
    fn a_venues_words_cannot_steer_the_terminal_nor_break_the_line() {
        assert_eq!(Cell::plain("a\u{1b}[2J\tb\nc").text, "a [2J b c");
        assert_eq!(Table::new(&[("venue", Align::Left)]).render(Look::Table { color: false }), "");
    }
}
