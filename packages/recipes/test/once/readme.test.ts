import { MemoryLeaseStore } from '@leasehold/core'
import { expect, it } from 'vitest'
import { migrate } from '../readme/once.js'

it('the example of the README migrates once, and all instances get the version', async () => {
  const store = new MemoryLeaseStore()
  const tokens: bigint[] = []
  const instance = () => migrate(store, 7, async (token) => void tokens.push(token))
  expect(await Promise.all([instance(), instance(), instance()])).toEqual(Array(3).fill({ version: 7 }))
  expect(tokens.length).toBe(1)
})
