import { setImmediate } from 'node:timers/promises'
import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { LeaseUi, type LeaseUiOptions } from '@leasehold/ui'
import { onTestFinished } from 'vitest'
import type { ErrorBody, Hello, ServerEvents } from '../../src/protocol.js'

export const TOKEN = 'a-token-of-24-characters'

/** A page of a store in memory, in virtual time. It ends with the test: it listens to channels that other tests share. */
export interface OpenUi {
  readonly ui: LeaseUi
  readonly store: LeaseStore
  readonly clock: VirtualClock
  readonly logged: string[]
}

export function openUi(
  options: Partial<LeaseUiOptions> = {},
  { clock = new VirtualClock(), store = new MemoryLeaseStore({ clock }) as LeaseStore } = {},
): OpenUi {
  const logged: string[] = []
  const log = (...texts: unknown[]): void => void logged.push(texts.map(textOf).join(' '))
  const logger = { debug: log, info: log, warn: log, error: log }
  const access = options.authorize === undefined ? { token: TOKEN } : {}
  const ui = new LeaseUi(store, { ...access, clock, logger, ...options })
  onTestFinished(() => ui.close())
  return { ui, store, clock, logged }
}

function textOf(value: unknown): string {
  return value instanceof Error ? `${value.stack} ${textOf(value.cause)}` : String(value)
}

/** Lets time pass, and what was sent arrive. */
export async function pass({ clock }: Pick<OpenUi, 'clock'>, duration: number): Promise<void> {
  await clock.advance(duration)
  for (let turn = 0; turn < 5; turn += 1) await setImmediate()
  await clock.settle()
}

export function request(path: string, { headers, ...init }: RequestInit = {}): Request {
  return new Request(`http://page.test${path}`, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...headers } })
}

/** The request of the page for a change. */
export function change(path: string, body: unknown, hello: Pick<Hello, 'changeToken'>, headers: object = {}): Request {
  return request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      'sec-fetch-site': 'same-origin',
      ...(hello.changeToken === undefined ? {} : { 'x-leasehold-change': hello.changeToken }),
      ...headers,
    },
  })
}

export async function errorOf(response: Response): Promise<ErrorBody> {
  return ((await response.json()) as { readonly error: ErrorBody }).error
}

export type AnyEvent = {
  readonly [Name in keyof ServerEvents]: { readonly name: Name; readonly data: ServerEvents[Name] }
}[keyof ServerEvents]

/** An open page: what it has got of the stream. */
export class Page {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly events: AnyEvent[] = []
  #text = ''
  isOver = false

  private constructor(response: Response) {
    if (response.body === null) throw new Error('the answer has no stream')
    this.#reader = response.body.getReader()
    void this.#read()
  }

  static async open({ ui, clock }: OpenUi, query = '', asked = request(`/api/events${query}`)): Promise<Page> {
    const response = await ui.fetch(asked)
    if (response.status !== 200) throw new Error(`the stream was refused with ${response.status}`)
    const page = new Page(response)
    await pass({ clock }, 0)
    return page
  }

  /** The events of one kind. */
  of<Name extends keyof ServerEvents>(name: Name): ServerEvents[Name][] {
    return this.events.filter((event) => event.name === name).map(({ data }) => data as ServerEvents[Name])
  }

  get hello(): Hello {
    const [hello] = this.of('hello')
    if (hello === undefined) throw new Error('there was no hello')
    return hello
  }

  /** The rows that the page shows, by their names. */
  get rows(): Map<string, ServerEvents['list']['rows'][number]> {
    const rows = new Map<string, ServerEvents['list']['rows'][number]>()
    for (const { name, data } of this.events) {
      if (name === 'list') {
        if (data.isFirst) rows.clear()
        for (const row of data.rows) rows.set(row.name, row)
      }
      if (name === 'changes') {
        for (const row of data.rows ?? []) rows.set(row.name, row)
        for (const gone of data.gone ?? []) rows.delete(gone)
        for (const [renewed, remaining] of data.renewed ?? []) {
          const row = rows.get(renewed)
          if (row !== undefined) rows.set(renewed, { ...row, remaining })
        }
      }
    }
    return rows
  }

  async close(): Promise<void> {
    await this.#reader.cancel()
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) break
      this.#text += decoder.decode(value, { stream: true })
      const parts = this.#text.split('\n\n')
      this.#text = parts.pop() ?? ''
      for (const part of parts) this.events.push(eventOf(part))
    }
    this.isOver = true
  }
}

function eventOf(text: string): AnyEvent {
  const match = /^event: (\w+)\ndata: ([^\n\r]*)$/.exec(text)
  if (match === null) throw new Error(`this is no event: ${text}`)
  const [, name, data = ''] = match
  return { name, data: JSON.parse(data) } as AnyEvent
}
