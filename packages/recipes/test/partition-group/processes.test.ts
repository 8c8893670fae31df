import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { type Line, WorkerProcess } from './worker-process.js'

const PARTITIONS = 6

/** Three workers, with two partitions each. */
async function startGroup(test: Finishing): Promise<[WorkerProcess, WorkerProcess, WorkerProcess]> {
  const folder = temporaryFolder(test)
  const start = (owner: string): WorkerProcess => new WorkerProcess(test, folder, owner)
  const workers: [WorkerProcess, WorkerProcess, WorkerProcess] = [start('anna'), start('berta'), start('carla')]
  await WorkerProcess.until(workers, () => ownAll(workers)() && workers.every(({ owned }) => owned.size === 2))
  // So that there is a position to pass on.
  for (const worker of workers) {
    await WorkerProcess.until([worker], () => [...worker.owned].every((one) => worker.of('saved', one).length > 0))
  }
  return workers
}

/** The works on each partition, in the order of time, never go back to an earlier token. */
function expectExclusion(workers: readonly WorkerProcess[]): void {
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const works = workers.flatMap((worker) => worker.of('worked', partition)).sort((one, other) => one.at - other.at)
    const tokens = works.map(({ token }) => BigInt(token))
    expect(works.length).toBeGreaterThan(0)
    expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0)))
  }
}

/** Each owner found the last position that the owner before it had saved, or a later one, and has a larger token. */
function expectPassedOn(workers: readonly WorkerProcess[]): void {
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const owners = workers.flatMap((worker) => worker.of('assigned', partition))
    const inOrder = [...owners].sort((one, other) => (BigInt(one.token) < BigInt(other.token) ? -1 : 1))
    expect(new Set(owners.map(({ token }) => token)).size).toBe(owners.length)
    for (const [place, owner] of inOrder.entries()) {
      const before = inOrder[place - 1]?.token
      const saved = workers.flatMap((worker) => worker.of('saved', partition).filter(({ token }) => token === before))
      const last = saved.at(-1)?.position ?? 0
      expect(Number.parseInt(String(owner.position ?? 0), 10), `partition ${partition}`).toBeGreaterThanOrEqual(
        Number(last),
      )
    }
  }
}

/** Whether these workers own all partitions, by their own account. */
function ownAll(workers: readonly WorkerProcess[]): () => boolean {
  return () => new Set(workers.flatMap(({ owned }) => [...owned])).size === PARTITIONS
}

describe.concurrent('workers in processes of their own', () => {
  it('take over the partitions of a worker that was killed', async (test) => {
    const [killed, ...others] = await startGroup(test)
    killed.signal('SIGKILL')
    await killed.exited
    await WorkerProcess.until(others, ownAll(others))
    expectPassedOn([killed, ...others])
    expectExclusion([killed, ...others])
  })

  it('take over the partitions of a worker that was stopped; it works on none of them when it continues', async (test) => {
    const [stopped, ...others] = await startGroup(test)
    stopped.signal('SIGSTOP')
    await WorkerProcess.until(others, ownAll(others))
    const tokens = new Set(stopped.of('assigned').map(({ partition, token }) => `${partition}: ${token}`))
    stopped.signal('SIGCONT')
    // It joins again, and gets a share, with new tokens.
    const isAgain = ({ partition, token }: Line): boolean => !tokens.has(`${partition}: ${token}`)
    await WorkerProcess.until([stopped], () => stopped.of('assigned').some(isAgain))
    expectPassedOn([stopped, ...others])
    expectExclusion([stopped, ...others])
  })

  it('take over the partitions of a worker that was asked to end, with the positions of its last work', async (test) => {
    const [ending, ...others] = await startGroup(test)
    ending.signal('SIGTERM')
    expect(await ending.exited).toBe(0)
    await WorkerProcess.until(others, ownAll(others))
    expect(ending.lines.at(-1)?.event).toBe('stopped')
    expect(ending.owned).toEqual(new Set())
    const saved = ending.of('ended').filter(({ isSaved }) => isSaved === true)
    expect(saved.length).toBeGreaterThan(0)
    expectPassedOn([ending, ...others])
    expectExclusion([ending, ...others])
  })
})
