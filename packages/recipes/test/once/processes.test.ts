import { LocalLeaseStore } from '@leasehold/local'
import { Once } from '@leasehold/recipes'
import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { Child } from '../support/child.js'

const program = new URL('programs/runner.ts', import.meta.url)
const ENDLESS = '1000000'

/** A process whose work does not end, and one that waits for its turn and works at once. */
async function startTwo(test: Finishing) {
  const folder = temporaryFolder(test)
  const holder = new Child(test, program, [folder, 'holder', ENDLESS])
  await holder.waitFor({ event: 'works' })
  const waiter = new Child(test, program, [folder, 'waiter', '0'])
  await waiter.waitFor({ event: 'runs' })
  return { folder, holder, waiter }
}

const works = ({ lines }: Child) => lines.filter(({ event }) => event === 'works')

describe.concurrent('a key of several processes', { timeout: 120_000 }, () => {
  it('goes to the next process when its holder is killed in the middle, under a larger token', async (test) => {
    const { folder, holder, waiter } = await startTwo(test)
    await holder.end('SIGKILL')
    expect(await waiter.waitFor({ event: 'outcome' })).toEqual({ event: 'outcome', outcome: 'waiter' })
    expect(BigInt(String(works(waiter)[0]?.token))).toBeGreaterThan(BigInt(String(works(holder)[0]?.token)))
    const later = new Child(test, program, [folder, 'later', '0'])
    expect(await later.waitFor({ event: 'outcome' })).toEqual({ event: 'outcome', outcome: 'waiter' })
    expect(works(later)).toEqual([])
  })

  it('goes to the next process while its holder is stopped; the holder then gets the outcome of the other', async (test) => {
    const { holder, waiter } = await startTwo(test)
    holder.signal('SIGSTOP')
    await waiter.waitFor({ event: 'outcome', outcome: 'waiter' })
    holder.signal('SIGCONT')
    await holder.waitFor({ event: 'error', error: 'LeaseLostError' })
    await holder.waitFor({ event: 'outcome', outcome: 'waiter' })
    expect(works(holder).length).toBe(1)
  })

  it('goes to the next process at once when its holder closes on SIGTERM', async (test) => {
    const { holder, waiter } = await startTwo(test)
    expect(await holder.end('SIGTERM')).toBe(0)
    expect(holder.lines.at(-1)).toEqual({ event: 'closed' })
    await waiter.waitFor({ event: 'outcome', outcome: 'waiter' })
  })

  it('that is done keeps its mark when all processes have ended', async (test) => {
    const folder = temporaryFolder(test)
    const first = new Child(test, program, [folder, 'first', '0'])
    await first.waitFor({ event: 'outcome' })
    await first.end('SIGKILL')
    const store = new LocalLeaseStore({ folder })
    test.onTestFinished(() => store.close())
    expect(await new Once(store).read('import')).toEqual({ outcome: 'first', owner: 'first' })
  })
})
