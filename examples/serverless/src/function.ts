/**
 * A process of a function, which holds a lease while the platform freezes it: `function.ts FOLDER HOW`. HOW is `blocked` or
 * `awaiting`. Tells its parent when it can be frozen, and what it sees when it goes on.
 */
import { once } from 'node:events'
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { createLease, LeaseLostError, type StoreHeld } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

const [folder = '', how = ''] = process.argv.slice(2)
const store = new LocalLeaseStore({ folder })
const guard = new LocalGuard({ folder })
const lease = createLease(store, 'reminders', { owner: 'first', heartbeatTimeout: 2_000, strategy: 'manual' })

/** Returns when the file is there. No timer and no callback runs meanwhile, so that the next statement is the first one. */
function blockUntil(file: string): void {
  while (!existsSync(join(folder, file))) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
}

/** The answer of a request, which arrives while the process is frozen. */
function answer(): Promise<unknown> {
  return new Promise((resolve) => process.once('message', resolve))
}

/** A write without a look at the lease. */
function writeAnyway({ fencingToken }: StoreHeld): string {
  try {
    guard.transact('reminders', fencingToken, () => appendFileSync(join(folder, 'sent.txt'), 'by the first\n'))
    return 'written'
  } catch (error) {
    return error instanceof LeaseLostError ? 'rejected' : String(error)
  }
}

async function work(held: StoreHeld): Promise<void> {
  process.send?.({ canBeFrozen: held.checkLease() })
  if (how === 'blocked') blockUntil('thawed')
  else await answer()
  const isValid = held.checkLease()
  const write = writeAnyway(held)
  if (!held.signal.aborted) await once(held.signal, 'abort')
  process.send?.({ isValid, write, isAborted: held.signal.aborted })
}

/** Resolves with the end of the run when the work has ended, too: the run rejects as soon as the loss is noticed. */
async function runToEnd(): Promise<string> {
  const begun: Promise<void>[] = []
  const run = lease.run((held) => {
    const working = work(held)
    begun.push(working)
    return working
  })
  const outcome = await run.then(
    () => 'resolved',
    (error: Error) => error.name,
  )
  await Promise.all(begun)
  return outcome
}

process.send?.({ run: await runToEnd() })
process.disconnect()
