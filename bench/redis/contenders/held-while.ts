import type { Held } from './contender.js'

/** The work under a lock: `begin` gets what the library shows of it. It goes on until the lock is released. */
export function heldWhile(
  begin: (onHeld: (held: Omit<Held, 'release'>) => Promise<void>) => Promise<unknown>,
): Promise<Held> {
  return new Promise((resolve, reject) => {
    let finish = (): void => {}
    const finished = new Promise<void>((done) => {
      finish = done
    })
    const work = begin(async (held) => {
      const release = async (): Promise<void> => {
        finish()
        await work
      }
      resolve({ ...held, release })
      await finished
    })
    // After the lock is held, a failure is that of the library at its loss.
    work.catch(reject)
  })
}

/** Holds by the `using` of redlock or of redlock-universal: only its signal notifies the work of a loss. */
export function heldInUsing(using: (work: (signal: AbortSignal) => Promise<void>) => Promise<void>): Promise<Held> {
  return heldWhile((onHeld) =>
    using((signal) =>
      onHeld({
        views: [{ means: 'signal of `using`', believes: () => !signal.aborted }],
        onLoss: (listener) => signal.addEventListener('abort', listener),
      }),
    ),
  )
}
