import type { LeaseStore } from '@leasehold/core'
import { logSafely, reasonOf } from '@leasehold/core/internal'
import { Gate } from '../access/gate.js'
import { notFound, Refusal, refusalOf } from '../access/refusal.js'
import type { CheckedUiOptions } from '../checked-options.js'
import type { UiUser } from '../lease-ui-options.js'
import { StoreObserver } from '../observer/store-observer.js'
import type { PageFile, PageFiles } from '../page/built-page.js'
import type { Hello } from '../protocol.js'
import { CompressedFiles } from './compressed-files.js'
import { EventHub } from './event-hub.js'
import { eventBytes } from './event-text.js'
import { historyIn } from './history-request.js'
import { LeaseActions } from './lease-actions.js'
import { readFields } from './request-body.js'
import { securityHeaders } from './security-headers.js'
import { StreamAccess } from './stream-access.js'
import type { OpenStream, UiAnswer, UiCall } from './ui-call.js'
import { version } from './version.js'

type Route = (call: UiCall, user: UiUser) => Promise<UiAnswer>

const pageMethods: readonly string[] = ['GET', 'HEAD']

/** Answers the requests of the page, for servers of both kinds. */
export class UiEndpoint {
  readonly #store: LeaseStore
  readonly #options: CheckedUiOptions
  readonly #page: () => Promise<PageFiles>
  readonly #gate: Gate
  readonly #observer: StoreObserver
  readonly #hub: EventHub
  readonly #actions: LeaseActions
  readonly #compressed = new CompressedFiles()
  #files: Promise<PageFiles> | undefined
  #isClosed = false

  constructor(store: LeaseStore, options: CheckedUiOptions, page: () => Promise<PageFiles>) {
    this.#store = store
    this.#options = options
    this.#page = page
    this.#gate = new Gate(options)
    this.#observer = new StoreObserver(store, options, {
      onChange: () => this.#hub.onChange(),
      onFreshness: () => this.#hub.onFreshness(),
    })
    this.#hub = new EventHub(this.#observer, options.clock, options.interval)
    this.#actions = new LeaseActions(store, options, this.#observer)
  }

  readonly #routes: ReadonlyMap<string, { readonly method: string; readonly answer: Route }> = new Map([
    ['api/events', { method: 'GET', answer: (call, user) => this.#events(call, user) }],
    ['api/lease', { method: 'GET', answer: (call) => this.#lease(call) }],
    ['api/history', { method: 'POST', answer: (call) => this.#history(call) }],
    ['api/break', { method: 'POST', answer: (call, user) => this.#break(call, user) }],
    ['api/schedule', { method: 'POST', answer: (call, user) => this.#schedule(call, user) }],
  ])

  /** The answer to a request. `undefined`: nothing is at its path. Never rejects. */
  async answer(call: UiCall): Promise<UiAnswer | undefined> {
    try {
      const { place } = call
      if (place === undefined) return undefined
      const route = this.#routes.get(place)
      return route === undefined ? await this.#file(place, call) : await this.#api(route, call)
    } catch (error) {
      return this.#refused(error)
    }
  }

  /** The answer where nothing is at the path, and no other part of the server takes the request. */
  nothing(): UiAnswer {
    return this.#refused(notFound())
  }

  /** Ends the open pages, and everything that goes on. */
  close(): void {
    this.#isClosed = true
    this.#observer.close()
    this.#hub.close()
  }

  async #api({ method, answer }: { readonly method: string; readonly answer: Route }, call: UiCall): Promise<UiAnswer> {
    if (call.method !== method) throw wrongMethod(method)
    if (this.#isClosed) throw closed()
    const user = await this.#gate.userOf(call)
    if (this.#isClosed) throw closed()
    this.#observer.start()
    return await answer(call, user)
  }

  async #file(place: string, call: UiCall): Promise<UiAnswer | undefined> {
    const { redirect } = call
    if (redirect !== undefined) {
      if (!pageMethods.includes(call.method)) throw wrongMethod('GET')
      return { status: 307, headers: { ...securityHeaders, location: redirect }, body: '' }
    }
    const files = await this.#loadedFiles()
    const file = files.get(place)
    if (file === undefined) return undefined
    if (!pageMethods.includes(call.method)) throw wrongMethod('GET, HEAD')
    if (!this.#gate.isPageOpen) await this.#gate.userOf(call)
    const { body, headers } = await this.#compressed.bodyOf(file, call.header('accept-encoding'))
    return {
      status: 200,
      headers: { ...securityHeaders, ...headersOf(file, this.#gate.isPageOpen), ...headers },
      body,
    }
  }

  /** The files of the page. If they could not be loaded, the next request tries again. */
  async #loadedFiles(): Promise<PageFiles> {
    this.#files ??= this.#page()
    try {
      return await this.#files
    } catch (error) {
      this.#files = undefined
      throw error
    }
  }

  async #events(call: UiCall, user: UiUser): Promise<UiAnswer> {
    const watched = call.query.get('watch') ?? undefined
    if (watched !== undefined) this.#actions.checkName(watched)
    if (this.#isFull) {
      const message = `${this.#options.maxStreams} pages are open already: close one of them, or raise maxStreams`
      throw new Refusal(503, 'busy', message, { 'retry-after': '5' })
    }
    const headers = {
      ...securityHeaders,
      'content-type': 'text/event-stream; charset=utf-8',
      // A proxy must pass each event on at once.
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    }
    return { status: 200, headers, body: this.#stream(call, user, watched) }
  }

  /** Whether as many pages are open as there can be. */
  get #isFull(): boolean {
    return this.#hub.size >= this.#options.maxStreams
  }

  #stream(call: UiCall, user: UiUser, watched: string | undefined): OpenStream {
    return (outlet) => {
      // Others may have been opened since this one was accepted.
      if (this.#isFull || this.#isClosed) {
        outlet.end()
        return { onRoom: () => {}, onGone: () => {} }
      }
      const access = new StreamAccess(this.#gate, this.#options.clock)
      const endReading = this.#observer.addReader()
      const endWatching = watched === undefined ? () => {} : this.#observer.watch(watched)
      const reader = this.#hub.open(outlet, eventBytes('hello', this.#hello(user)), () => {
        access.end()
        endReading()
        endWatching()
      })
      access.begin(call, user, () => reader.end())
      return reader
    }
  }

  #hello(user: UiUser): Hello {
    const { title, prefix, interval, historyFor } = this.#options
    const { access, name } = user
    return {
      version,
      title,
      store: this.#store.kind ?? 'custom',
      prefix,
      access,
      ...(name !== undefined && { user: name }),
      ...(access === 'write' && { changeToken: this.#gate.changeTokenOf(user) }),
      canBreak: this.#store.break !== undefined,
      interval,
      historyFor,
      observedSince: this.#observer.observedSince,
    }
  }

  async #lease(call: UiCall): Promise<UiAnswer> {
    return json(await this.#actions.detail(call.query.get('name') ?? undefined))
  }

  async #history(call: UiCall): Promise<UiAnswer> {
    return json(this.#observer.historyOf(historyIn(await readFields(call, this.#options))))
  }

  async #break(call: UiCall, user: UiUser): Promise<UiAnswer> {
    this.#gate.checkChange(call, user)
    await this.#actions.break(await readFields(call, this.#options), user)
    return json({})
  }

  async #schedule(call: UiCall, user: UiUser): Promise<UiAnswer> {
    this.#gate.checkChange(call, user)
    await this.#actions.schedule(await readFields(call, this.#options), user)
    return json({})
  }

  #refused(error: unknown): UiAnswer {
    const refusal = refusalOf(error)
    if (refusal === undefined)
      logSafely(this.#options.logger, 'error', `LeaseUi: a request failed: ${reasonOf(error)}`, error)
    const { status, body, headers } = refusal ?? failed()
    return { ...json({ error: body }), status, headers: { ...jsonHeaders, ...headers } }
  }
}

const jsonHeaders = { ...securityHeaders, 'content-type': 'application/json; charset=utf-8' }

function json(value: object): UiAnswer {
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(value) }
}

function headersOf({ type, isImmutable }: PageFile, isPublic: boolean): Record<string, string> {
  const life = `${isPublic ? 'public' : 'private'}, max-age=31536000, immutable`
  return { 'content-type': type, ...(isImmutable && { 'cache-control': life }) }
}

function wrongMethod(allowed: string): Refusal {
  return new Refusal(405, 'not-found', `this address takes ${allowed} only`, { allow: allowed })
}

function closed(): Refusal {
  return new Refusal(503, 'unavailable', 'the page was closed: the server is going to end', { 'retry-after': '5' })
}

function failed(): Refusal {
  return new Refusal(500, 'unavailable', 'the request failed: see the log of the server')
}
