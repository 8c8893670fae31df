import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('the instance on standby forwards orders to the address of the holder, and handles them after it took over', () => {
  expect(runExample('standby')).toEqual({
    status: 0,
    lines: [
      'first handles order 1',
      'second forwards order 2 to first',
      'first handles order 2',
      'second handles order 3',
    ],
    stderr: '',
  })
})
