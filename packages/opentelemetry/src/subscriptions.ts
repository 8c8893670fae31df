import { AsyncLocalStorage } from 'node:async_hooks'
import diagnosticsChannel from 'node:diagnostics_channel'
import { readGuarded } from '@leasehold/core/internal'
import { type Context, context, diag } from '@opentelemetry/api'

/** The subscriptions of one instrumentation: all of them end together. */
export class Subscriptions {
  readonly #removals: (() => void)[] = []

  /** An error of the listener goes to the diagnostics of OpenTelemetry: a channel would end the process with it. */
  on<M>(name: string, listener: (message: M) => void): void {
    const guarded = (message: unknown): void => {
      guard(() => listener(message as M))
    }
    diagnosticsChannel.subscribe(name, guarded)
    this.#removals.push(() => diagnosticsChannel.unsubscribe(name, guarded))
  }

  /** What a tracing channel says of an operation: its beginning, and its end, after it has settled or thrown. */
  onOperation<M extends { readonly error?: unknown }>(
    name: string,
    { begin, end }: { readonly begin: (message: M) => void; readonly end: (message: M) => void },
  ): void {
    this.on<M>(`tracing:${name}:start`, begin)
    this.on<M>(`tracing:${name}:asyncEnd`, end)
    // An operation that throws before it returns a promise has no asynchronous end.
    this.on<M>(`tracing:${name}:end`, (message) => {
      if (message.error !== undefined) end(message)
    })
  }

  /** Makes a context of OpenTelemetry the active one within the operations of a tracing channel. */
  bindContext<M>(name: string, contextOf: (message: M) => Context): void {
    const channel = diagnosticsChannel.channel(`tracing:${name}:start`)
    const store = new ContextStore()
    channel.bindStore(store, (message) => guard(() => contextOf(message as M)) ?? context.active())
    this.#removals.push(() => channel.unbindStore(store))
  }

  end(): void {
    for (const remove of this.#removals.splice(0)) remove()
  }
}

/**
 * A channel knows only an `AsyncLocalStorage` to run operations in, and the one of OpenTelemetry belongs to its SDK. This one
 * keeps nothing: it runs the operation in the context, by the API.
 */
class ContextStore extends AsyncLocalStorage<Context> {
  override run<R, A extends unknown[]>(active: Context, operation: (...args: A) => R, ...args: A): R {
    return context.with(active, () => operation(...args))
  }
}

/** Calls code that must not fail the lease; `undefined` if it throws. A promise that rejects is reported, too. */
export function guard<T>(call: () => T): T | undefined {
  return readGuarded(call, report) as T | undefined
}

function report(error: unknown): void {
  diag.error('@leasehold/opentelemetry: an error in the instrumentation of leases', error)
}
