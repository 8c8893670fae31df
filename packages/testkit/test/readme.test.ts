import { expect, it } from 'vitest'
import { loseInVirtualTime } from './readme.js'
import { survivesALostAnswer } from './readme-faults.js'

it('the lease of the README is lost in virtual time', async () => {
  expect(await loseInVirtualTime()).toEqual(['expired'])
})

it('the lease of the README survives a lost answer and a hang', async () => {
  expect(await survivesALostAnswer()).toBe(true)
})
