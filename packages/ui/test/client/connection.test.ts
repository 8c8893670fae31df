import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import type { PageRequest } from '../../client/api/page-fetch.js'
import { Connection } from '../../client/stream/connection.js'
import type { ErrorBody } from '../../src/protocol.js'

type Answer = () => Response | Promise<Response>

const refused: Answer = () => Promise.reject(new TypeError('fetch failed'))
const text =
  (body: string): Answer =>
  () =>
    new Response(body, { headers: { date: 'Sat, 28 Nov 2026 12:00:00 GMT' } })
const status =
  (code: number, message: string): Answer =>
  () =>
    Response.json({ error: { code: 'access', message } }, { status: code })

/** A stream that stays open. */
function open(): { readonly answer: Answer; readonly say: (text: string) => void; readonly end: () => void } {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given
    },
  })
  return {
    answer: () => new Response(body),
    say: (said) => controller?.enqueue(new TextEncoder().encode(said)),
    end: () => controller?.close(),
  }
}

function connect(answers: Answer[], token?: string) {
  const clock = new VirtualClock()
  const seen: string[] = []
  const requests: { readonly url: string; readonly init: PageRequest; readonly at: number }[] = []
  const connection = new Connection({
    clock: { now: () => clock.now(), wall: () => clock.wall(), schedule: (delay, task) => clock.schedule(delay, task) },
    random: () => 1,
    token: () => token,
    fetch: async (url, init) => {
      requests.push({ url, init, at: clock.now() })
      const answer = answers.shift() ?? refused
      return answer()
    },
    listener: {
      onEvent: (event, data) => seen.push(`${event} ${JSON.stringify(data)}`),
      onOpen: (date) => seen.push(`open ${date === undefined ? '' : new Date(date).toISOString()}`.trim()),
      onEnd: (error: ErrorBody, code) => seen.push(`end ${code ?? ''} ${error.message}`),
    },
  })
  const settle = async () => {
    for (let round = 0; round < 20; round += 1) await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { clock, seen, requests, connection, settle }
}

describe('Connection', () => {
  it('passes on the events, the date of the server, and the end', async () => {
    const { seen, connection, settle } = connect([text('event: freshness\ndata: {"age":1}\n\n')])
    connection.start()
    await settle()
    expect(seen).toEqual([
      'open 2026-11-28T12:00:00.000Z',
      'freshness {"age":1}',
      'end  The connection to the server ended.',
    ])
    connection.stop()
  })

  it('sends the token in a header, and never in the address', async () => {
    const { requests, connection, settle } = connect([open().answer], 'secret')
    connection.watch('a lease/1')
    await settle()
    expect(requests.map(({ url }) => url)).toEqual(['api/events?watch=a%20lease%2F1'])
    expect(requests[0]?.init.headers.authorization).toBe('Bearer secret')
    connection.stop()
  })

  it('tries again, each time after twice as long, 15 seconds at most', async () => {
    const { clock, requests, connection, settle } = connect([])
    connection.start()
    for (let second = 0; second < 60; second += 0.5) {
      await settle()
      await clock.advance(500)
    }
    const times = requests.map(({ at }) => at)
    expect(times.slice(1).map((at, index) => at - (times[index] ?? 0))).toEqual([
      500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000,
    ])
    connection.stop()
  })

  it('begins with the shortest pause again once a stream has said something', async () => {
    const { clock, requests, connection, settle } = connect([
      refused,
      refused,
      text('event: freshness\ndata: {"age":1}\n\n'),
    ])
    connection.start()
    await settle()
    await clock.advance(500)
    await settle()
    await clock.advance(1_000)
    await settle()
    expect(requests.length).toBe(3)
    await clock.advance(500)
    expect(requests.length).toBe(4)
    connection.stop()
  })

  it('waits for a token after the status 401, and says what the server says', async () => {
    const { clock, seen, requests, connection, settle } = connect([status(401, 'Send a token.')])
    connection.start()
    await settle()
    await clock.advance(60_000)
    expect(seen).toEqual(['end 401 Send a token.'])
    expect(requests.length).toBe(1)
  })

  it('says that the server is busy, and tries again', async () => {
    const { clock, seen, requests, connection, settle } = connect([status(503, 'Too many pages are open.')])
    connection.start()
    await settle()
    expect(seen).toEqual(['end 503 Too many pages are open.'])
    await clock.advance(500)
    expect(requests.length).toBe(2)
    connection.stop()
  })

  it('hears no more of a stream that another one replaced', async () => {
    const first = open()
    const second = open()
    const { seen, connection, settle } = connect([first.answer, second.answer])
    connection.start()
    await settle()
    connection.watch('other')
    await settle()
    first.say('event: freshness\ndata: 1\n\n')
    first.end()
    second.say('event: freshness\ndata: 2\n\n')
    await settle()
    expect(seen).toEqual(['open', 'open', 'freshness 2'])
    connection.stop()
  })

  it('ends a stream that sends something else than JSON', async () => {
    const { seen, connection, settle } = connect([text('event: list\ndata: {\n\n')])
    connection.start()
    await settle()
    expect(seen.at(-1)).toBe('end  The server sent something that is not JSON.')
    connection.stop()
  })
})
