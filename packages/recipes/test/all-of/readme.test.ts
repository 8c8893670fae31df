import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { transfer } from '../readme/transfer.js'

it('the transfers of the README have both accounts, one after the other', async () => {
  const store = new MemoryLeaseStore()
  let inProgress = 0
  const moves: string[][] = []
  const move = async (signal: AbortSignal, tokens: ReadonlyMap<string, bigint>): Promise<void> => {
    inProgress += 1
    expect([inProgress, signal.aborted]).toEqual([1, false])
    moves.push([...tokens.keys()])
    await new Promise((resolve) => setImmediate(resolve))
    inProgress -= 1
  }
  await Promise.all([transfer(store, 'anna', 'berta', move), transfer(store, 'berta', 'anna', move)])
  const both = ['account/anna', 'account/berta']
  expect(moves).toEqual([both, both])
})
