import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { CandidateProcess, type Line } from './candidate-process.js'

const hasWritten = ({ wrote }: Line): boolean => wrote !== undefined

/** Three candidates, of which one has written, and the folder that they share. */
async function candidates(test: Finishing): Promise<{
  folder: string
  leader: CandidateProcess
  others: readonly [CandidateProcess, CandidateProcess]
}> {
  const folder = temporaryFolder(test)
  const leader = new CandidateProcess(test, folder, 'first')
  await leader.waitFor(hasWritten)
  const others = [new CandidateProcess(test, folder, 'second'), new CandidateProcess(test, folder, 'third')] as const
  for (const other of others) await other.waitFor((line) => line.leader === 'first')
  return { folder, leader, others }
}

async function successorOf(others: readonly CandidateProcess[]): Promise<CandidateProcess> {
  return await Promise.race(others.map(async (other) => (await other.waitFor(hasWritten)) && other))
}

/** The terms that observers saw grow, and the ledger has no entry of an older term after one of a newer term. */
function expectOrder(folder: string, observers: readonly CandidateProcess[]): void {
  const ledger = readFileSync(join(folder, 'ledger.txt'), 'utf8').trim().split('\n')
  const written = ledger.map((entry) => BigInt(entry.split(' ')[0] ?? 0))
  expect(written).toEqual(written.toSorted((one, other) => (one < other ? -1 : 1)))
  for (const { lines } of observers) {
    const seen = lines.filter(({ leader }) => leader !== undefined && leader !== 'nobody')
    const terms = seen.map(({ term }) => BigInt(term ?? 0))
    expect(new Set(terms).size).toBe(terms.length)
    expect(terms).toEqual(terms.toSorted((one, other) => (one < other ? -1 : 1)))
  }
}

describe.concurrent('processes of one machine', { timeout: 120_000 }, () => {
  it('SIGKILL: another one leads in a later term, and the others learn of it', async (test) => {
    const { folder, leader, others } = await candidates(test)
    leader.signal('SIGKILL')
    expect(await leader.exited).toBe(null)
    const successor = await successorOf(others)
    for (const other of others) await other.waitFor((line) => line.leader === successor.name)
    const [last, next] = [leader, successor].map(({ lines }) => BigInt(lines.find(hasWritten)?.wrote ?? 0))
    expect(next).toBeGreaterThan(last ?? 0n)
    expectOrder(folder, others)
  })

  it('SIGSTOP: another one leads; the stopped leader notices when it continues, and its late write is rejected', async (test) => {
    const { folder, leader, others } = await candidates(test)
    leader.signal('SIGSTOP')
    const successor = await successorOf(others)
    leader.signal('SIGCONT')
    const lost = await leader.waitFor((line) => line.lost !== undefined)
    expect(lost.leads).toBe(false)
    const ended = await leader.waitFor((line) => line.ended !== undefined)
    expect(ended).toEqual({ ended: lost.lost, leads: false })
    expect(leader.lines.filter(({ rejected }) => rejected === lost.lost).length).toBeGreaterThan(0)
    // The stopped process learns of its successor, too.
    await leader.waitFor((line) => line.leader === successor.name)
    expectOrder(folder, [leader, ...others])
  })

  it('SIGTERM: the leader ends its work, passes the leadership on and exits', async (test) => {
    const { folder, leader, others } = await candidates(test)
    leader.signal('SIGTERM')
    expect(await leader.exited).toBe(0)
    const events = leader.lines.flatMap((line) => Object.keys(line).filter((key) => /ended|lost|stopped/.test(key)))
    expect(events.slice(-2)).toEqual(['ended', 'stopped'])
    // The lease was held until the work had ended.
    expect(leader.lines.findLast(({ ended }) => ended !== undefined)?.leads).toBe(true)
    const successor = await successorOf(others)
    for (const other of others) await other.waitFor((line) => line.leader === successor.name)
    expectOrder(folder, others)
  })
})
