import { AbortableCall, type StoreCall } from '../store/store-call.js'

/** One of the watches that are merged. */
export interface MergedWatch<K, T> {
  readonly of: K
  readonly open: (call: StoreCall) => AsyncIterable<T>
}

/**
 * Merges several watches into one. If a watch yields several values between two calls of `next`, only its last one is passed on.
 * Ends when one watch ends, or when `closed` aborts. Rejects when one watch fails. No watch stays open afterwards.
 */
export async function* mergedWatches<K, T>(
  watches: readonly MergedWatch<K, T>[],
  call: StoreCall,
  closed: AbortSignal,
): AsyncGenerator<{ readonly of: K; readonly value: T }, void, undefined> {
  const own = new AbortableCall()
  const stop = (): void => own.abort(call.signal.reason)
  const removeListener = call.onAbort(stop)
  closed.addEventListener('abort', stop)
  const latest = new Map<K, T>()
  let end: { readonly error?: unknown } | undefined
  let wake = (): void => {}
  const listen = async ({ of, open }: MergedWatch<K, T>): Promise<void> => {
    for await (const value of open(own)) {
      if (own.aborted) return
      latest.set(of, value)
      wake()
    }
  }
  try {
    for (const watch of watches) {
      listen(watch).then(
        () => {
          end ??= {}
          wake()
        },
        (error: unknown) => {
          end ??= { error }
          wake()
        },
      )
    }
    for (;;) {
      for (const [of, value] of latest) {
        latest.delete(of)
        yield { of, value }
      }
      if (latest.size > 0) continue
      if (end !== undefined) {
        if ('error' in end) throw end.error
        return
      }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    removeListener()
    closed.removeEventListener('abort', stop)
    own.abort()
  }
}
