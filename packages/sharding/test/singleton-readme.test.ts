import { temporaryFolder } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'
import { register, startRegistry } from './readme/registry.js'

it('the example of a singleton goes on in the other process after a stop', { timeout: 30_000 }, async () => {
  const folder = temporaryFolder()
  const [one, two] = await Promise.all([startRegistry(folder), startRegistry(folder)])
  onTestFinished(async () => {
    await Promise.all([one.stop(), two.stop()])
  })
  expect(await register(one, 'ada')).toBe(true)
  expect(await register(two, 'ada')).toBe(false)
  expect(await register(two, 'grace')).toBe(true)
  const [here, there] = one.isHere ? [one, two] : [two, one]
  expect([here.isHere, there.isHere]).toEqual([true, false])
  await here.stop()
  expect(await there.ask({ type: 'list' })).toEqual(['ada', 'grace'])
  expect(there.isHere).toBe(true)
})
