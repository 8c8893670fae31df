import { expect, it } from 'vitest'
import { loseInVirtualTime } from './readme.js'
import { survivesALostAnswer } from './readme-faults.js'
import { countGrants } from './readme-simulate.js'

it('the lease of the README is lost in virtual time', async () => {
  expect(await loseInVirtualTime()).toEqual(['expired'])
})

it('the lease of the README survives a lost answer and a hang', async () => {
  expect(await survivesALostAnswer()).toBe(true)
})

it('the schedules of the README break no rule, and something happens in them', async () => {
  expect(await countGrants(20)).toBeGreaterThan(20)
})
