/** One event of a stream, as it was sent. */
export interface StreamEvent {
  readonly event: string
  readonly data: string
}

/**
 * Reads `text/event-stream` in pieces of any size: `push` returns the events that are complete by now. Ids and retry times are
 * not used here; comments keep a connection open, and say nothing.
 */
export class EventParser {
  /** The pieces of the line that has not ended yet: a list of ten thousand leases is one line in many pieces. */
  #pieces: string[] = []
  #endedWithReturn = false
  #event = ''
  #data: string[] = []

  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = []
    // The two characters of a line break may come in two pieces.
    let start = this.#endedWithReturn && text.startsWith('\n') ? 1 : 0
    if (text.length > 0) this.#endedWithReturn = text.endsWith('\r')
    const lineEnd = /\r\n|\n|\r/g
    lineEnd.lastIndex = start
    for (let found = lineEnd.exec(text); found !== null; found = lineEnd.exec(text)) {
      this.#pieces.push(text.slice(start, found.index))
      const line = this.#pieces.join('')
      this.#pieces = []
      this.#readLine(line, events)
      start = lineEnd.lastIndex
    }
    if (start < text.length) this.#pieces.push(text.slice(start))
    return events
  }

  #readLine(line: string, events: StreamEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ event: this.#event || 'message', data: this.#data.join('\n') })
      this.#event = ''
      this.#data = []
      return
    }
    const colon = line.indexOf(':')
    if (colon === 0) return
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.#event = value
    else if (field === 'data') this.#data.push(value)
  }
}
