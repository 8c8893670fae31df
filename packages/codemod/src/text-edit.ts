/** Replaces the characters from `start` up to `end` by `text`. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A line, or several, before and after the edits in it. */
export interface ChangedLines {
  /** The first line, counted from 1 in the text before the edits. */
  readonly line: number
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Applies edits that do not overlap. Everything else in the text stays as it is, byte for byte. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let result = ''
  let position = 0
  for (const { start, end, text: replacement } of inOrder(edits)) {
    if (start < position) throw new RangeError(`two edits overlap at offset ${start}`)
    result += text.slice(position, start) + replacement
    position = end
  }
  return result + text.slice(position)
}

/** The lines that the edits change. Edits in the same lines are one entry. */
export function changedLines(text: string, edits: readonly TextEdit[]): ChangedLines[] {
  const groups: { start: number; end: number; edits: TextEdit[] }[] = []
  for (const edit of inOrder(edits)) {
    const start = text.lastIndexOf('\n', edit.start - 1) + 1
    const newline = text.indexOf('\n', Math.max(edit.start, edit.end - 1))
    const end = newline === -1 ? text.length : newline
    const last = groups.at(-1)
    if (last !== undefined && start <= last.end) {
      last.end = Math.max(last.end, end)
      last.edits.push(edit)
    } else groups.push({ start, end, edits: [edit] })
  }
  return groups.map(({ start, end, edits: inLines }) => {
    const moved = inLines.map((edit) => ({ ...edit, start: edit.start - start, end: edit.end - start }))
    const before = text.slice(start, end)
    const after = applyEdits(before, moved)
    return {
      line: text.slice(0, start).split('\n').length,
      before: before.split('\n'),
      after: after === '' && before !== '' ? [] : after.split('\n'),
    }
  })
}

function inOrder(edits: readonly TextEdit[]): TextEdit[] {
  return [...edits].sort((a, b) => a.start - b.start || a.end - b.end)
}
