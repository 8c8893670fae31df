import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('books every deposit once, also while an instance is killed, and while another one is replaced', () => {
  expect(runExample('accounts')).toEqual({
    status: 0,
    lines: [
      '20 deposits through two instances: 100 through anna, 100 through berta',
      'anna was killed within 20 deposits: 200 through berta',
      'carla replaced berta within 20 deposits: 400 through carla',
      '80 deposits of 5 are 400',
    ],
    stderr: '',
  })
})
