import { expect, it } from 'vitest'
import { runExample } from '../../../tools/run-example.js'

it('leases work over both stores', () => {
  const { status, lines, stderr } = runExample('custom-store')
  expect(stderr).toBe('')
  expect(lines).toEqual([
    'table: anna true, berta false',
    'table, after the release: berta true, token 2',
    'register: anna true, berta false',
    'register, after the release: berta true, token 2',
  ])
  expect(status).toBe(0)
})
