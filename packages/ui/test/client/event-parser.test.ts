import { describe, expect, it } from 'vitest'
import { EventParser } from '../../client/stream/event-parser.js'

const stream =
  'event: list\r\ndata: {"a":\r\ndata: 1}\r\n\r\n: a comment\nid: 7\nevent: freshness\ndata:{}\n\n\ndata: äöü\r\r'
const events = [
  { event: 'list', data: '{"a":\n1}' },
  { event: 'freshness', data: '{}' },
  { event: 'message', data: 'äöü' },
]

describe('EventParser', () => {
  it('reads events, with line ends of all kinds', () => {
    expect(new EventParser().push(stream)).toEqual(events)
  })

  it('reads the same in pieces of any size', () => {
    for (let size = 1; size < stream.length; size += 1) {
      const parser = new EventParser()
      const read = []
      for (let start = 0; start < stream.length; start += size)
        read.push(...parser.push(stream.slice(start, start + size)))
      expect(read, `in pieces of ${size}`).toEqual(events)
    }
  })

  it('returns an event only when it is complete', () => {
    const parser = new EventParser()
    expect(parser.push('event: list\ndata: 1\n')).toEqual([])
    expect(parser.push('\n')).toEqual([{ event: 'list', data: '1' }])
  })

  it('reads a line of many pieces in a time that grows with its length only', () => {
    const parser = new EventParser()
    const piece = 'x'.repeat(1_000)
    for (let count = 0; count < 20_000; count += 1) parser.push(count === 0 ? `data:${piece}` : piece)
    expect(parser.push('\n\n')[0]?.data.length).toBe(20_000_000)
  })
})
