import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { Child } from '../support/child.js'

const program = new URL('programs/worker.ts', import.meta.url)
const ENDLESS = '1000000'

/** A process whose first job does not end, and one that does the others, and then waits for the first. */
async function startTwo(test: Finishing) {
  const folder = temporaryFolder(test)
  const holder = new Child(test, program, [folder, 'holder', ENDLESS])
  await holder.waitFor({ event: 'works', job: 'a' })
  const other = new Child(test, program, [folder, 'other', '0'])
  await other.waitFor({ event: 'works', job: 'c' })
  return { folder, holder, other }
}

const jobsOf = ({ lines }: Child) => lines.filter(({ event }) => event === 'works').map(({ job }) => job)
const tokenOf = ({ lines }: Child, of: string) => BigInt(String(lines.find(({ job }) => job === of)?.token))

describe.concurrent('a list of jobs in several processes', { timeout: 120_000 }, () => {
  it('is done once by three processes that live', async (test) => {
    const folder = temporaryFolder(test)
    const workers = ['one', 'two', 'three'].map((owner) => new Child(test, program, [folder, owner, '100']))
    for (const worker of workers) await worker.waitFor({ event: 'finished' })
    expect(workers.flatMap(jobsOf).sort()).toEqual(['a', 'b', 'c'])
    const later = new Child(test, program, [folder, 'later', '0'])
    expect(await later.waitFor({ event: 'finished' })).toMatchObject({ done: '', doneElsewhere: 'a,b,c' })
  })

  it('loses no job of a process that is killed: another does it again, under a larger token', async (test) => {
    const { folder, holder, other } = await startTwo(test)
    await holder.end('SIGKILL')
    expect(await other.waitFor({ event: 'finished' })).toMatchObject({ done: 'a,b,c', doneElsewhere: '' })
    expect(jobsOf(other)).toEqual(['b', 'c', 'a'])
    expect(tokenOf(other, 'a')).toBeGreaterThan(tokenOf(holder, 'a'))
    const later = new Child(test, program, [folder, 'later', '0'])
    expect(await later.waitFor({ event: 'finished' })).toMatchObject({ done: '' })
  })

  it('is done while a process is stopped, which then finds its job lost and done by the other', async (test) => {
    const { holder, other } = await startTwo(test)
    holder.signal('SIGSTOP')
    await other.waitFor({ event: 'finished' })
    holder.signal('SIGCONT')
    await holder.waitFor({ event: 'lost', name: 'a' })
    expect(await holder.waitFor({ event: 'finished' })).toMatchObject({ done: '', doneElsewhere: 'a,b,c' })
    expect(jobsOf(holder)).toEqual(['a'])
  })

  it('goes on at once when a process closes its manager on SIGTERM', async (test) => {
    const { holder, other } = await startTwo(test)
    expect(await holder.end('SIGTERM')).toBe(0)
    expect(holder.lines).toContainEqual({ event: 'lost', name: 'a', reason: 'closed' })
    expect(await other.waitFor({ event: 'finished' })).toMatchObject({ done: 'a,b,c' })
  })
})
