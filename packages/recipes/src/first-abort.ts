import { aborts } from './aborts.js'

interface FirstAbort {
  readonly signal: AbortSignal
  forget(): void
}

/**
 * A signal that aborts with the first of these, until `forget` is called. `AbortSignal.any` would leave something behind
 * at every call on a signal that is never aborted.
 */
export function firstAbort(...signals: readonly (AbortSignal | undefined)[]): FirstAbort {
  const first = new AbortController()
  const removals = signals.map((signal) => signal && aborts.add(signal, () => first.abort(signal.reason)))
  return {
    signal: first.signal,
    forget: () => {
      for (const remove of removals) remove?.()
    },
  }
}
