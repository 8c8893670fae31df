import type { Held } from './contender.js'

/** What `using` of redlock and of redlock-universal hands to the work. */
type Using = (work: (signal: AbortSignal) => Promise<void>) => Promise<void>

/** Holds by the `using` of a library: the work lasts until the release, and only its signal notifies it of a loss. */
export function heldInUsing(using: Using): Promise<Held> {
  return new Promise((resolve, reject) => {
    let finish = (): void => {}
    const finished = new Promise<void>((done) => {
      finish = done
    })
    const used = using(async (signal) => {
      resolve({
        views: [{ means: 'signal of `using`', believes: () => !signal.aborted }],
        onLoss: (listener) => signal.addEventListener('abort', listener),
        release: async () => {
          finish()
          await used
        },
      })
      await finished
    })
    used.catch(reject)
  })
}
