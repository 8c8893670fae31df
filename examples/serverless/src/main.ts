/** Freezes a process that holds a lease, for longer than its ttl, and lets it go on. Exits 0 if it wrote nothing then. */
import { fork } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createLease } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'

/** The longest time that a round may take, in milliseconds. */
const LONGEST = 40_000

/** Another invocation, in this process, acquires the lease as soon as that of the frozen one is over, and writes. */
async function writeAsSecond(folder: string): Promise<void> {
  const [store, guard] = [new LocalLeaseStore({ folder }), new LocalGuard({ folder })]
  const lease = createLease(store, 'reminders', { owner: 'second', heartbeatTimeout: 2_000, strategy: 'manual' })
  await lease.run(
    async ({ fencingToken }) => {
      guard.transact('reminders', fencingToken, () => appendFileSync(join(folder, 'sent.txt'), 'by the second\n'))
    },
    { wait: LONGEST },
  )
  await guard.close()
  await store.close()
}

/** What the frozen process has seen. */
async function freeze(how: 'blocked' | 'awaiting'): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-serverless-'))
  const child = fork(fileURLToPath(new URL('./function.ts', import.meta.url)), [folder, how])
  const cancel = setTimeout(() => child.kill('SIGKILL'), LONGEST)
  try {
    const seen: Record<string, unknown> = {}
    child.on('message', async (message: Record<string, unknown>) => {
      Object.assign(seen, message)
      if (!('canBeFrozen' in message)) return
      child.kill('SIGSTOP')
      await writeAsSecond(folder)
      // It goes on at a statement, or with an answer that has arrived meanwhile.
      if (how === 'blocked') writeFileSync(join(folder, 'thawed'), '')
      else child.send('answer')
      child.kill('SIGCONT')
    })
    await new Promise((resolve) => child.once('close', resolve))
    return { ...seen, sent: readFileSync(join(folder, 'sent.txt'), 'utf8').trim() }
  } finally {
    clearTimeout(cancel)
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const how of ['blocked', 'awaiting'] as const) {
  const { canBeFrozen, isValid, write, isAborted, run, sent } = await freeze(how)
  console.log(`frozen while ${how}, with a valid lease: ${canBeFrozen}`)
  console.log(`in the first statement after the thaw, checkLease(): ${isValid}`)
  console.log(`a write that was sent anyway: ${write}`)
  console.log(`then the signal is aborted: ${isAborted}, run: ${run}, reminders: ${sent}`)
  if (isValid !== false || write !== 'rejected' || isAborted !== true || sent !== 'by the second') process.exitCode = 1
}
