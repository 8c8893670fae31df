/** A candidate of the tests with several processes: `candidate.ts FOLDER NAME`. It prints its events, one JSON text a line. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseLostError } from '@leasehold/core'
import { LocalGuard, LocalLeaseStore } from '@leasehold/local'
import { LeaderElection } from '@leasehold/recipes'

const [folder = '', name = ''] = process.argv.slice(2)
const ledger = join(folder, 'ledger.txt')

function print(event: object): void {
  process.stdout.write(`${JSON.stringify(event)}\n`)
}

// It must not outlive the test.
process.stdin.on('end', () => process.exit()).resume()

const store = new LocalLeaseStore({ folder })
const guard = new LocalGuard({ folder })
const election = new LeaderElection(store, {
  name: 'job',
  owner: name,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 500,
  operationTimeout: 500,
  metadata: { pid: String(process.pid) },
  onElected: async ({ term, signal }) => {
    print({ elected: String(term) })
    for (let writes = 0; !signal.aborted; writes += 1) {
      write(term)
      if (writes === 0) print({ wrote: String(term) })
      await sleep(20)
    }
    // Without a lease: the guard has to reject it if there is a later term.
    write(term)
    print({ ended: String(term), leads: election.isLeader })
  },
})
election.on('lost', (term) => print({ lost: String(term), leads: election.isLeader }))

function write(term: bigint): void {
  try {
    guard.transact('ledger', term, () => appendFileSync(ledger, `${term} ${name}\n`))
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
    print({ rejected: String(term) })
  }
}

process.on('SIGTERM', async () => {
  await election.stop()
  print({ stopped: true })
  process.exit()
})

election.start()
for await (const leader of election.observe()) print({ leader: leader?.owner ?? 'nobody', term: String(leader?.term) })
