import { useState } from 'preact/hooks'
import { RequestError } from '../api/api.js'

export interface Action {
  readonly isBusy: boolean
  /** Why the last try failed. */
  readonly error: RequestError | undefined
  /** Returns whether it worked. */
  readonly run: (work: () => Promise<void>) => Promise<boolean>
}

/** Something that the reader asks the server to do: once at a time, and what failed is said beside it. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<RequestError | undefined>(undefined)
  const run = async (work: () => Promise<void>) => {
    if (isBusy) return false
    setBusy(true)
    setError(undefined)
    try {
      await work()
      return true
    } catch (cause) {
      setError(cause instanceof RequestError ? cause : new RequestError({ code: 'page', message: String(cause) }, 0))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, error, run }
}
