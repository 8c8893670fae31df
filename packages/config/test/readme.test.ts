import { Config } from '@leasehold/config'
import { expect, it } from 'vitest'
import { readSettings } from './readme.js'

it('the example of the README reads settings and explains a wrong one', () => {
  const defaults = Config.from({ host: 'localhost', jobs: { ttl: '12s' } })
  expect(readSettings('jobs.url = "http://"${host}', defaults)).toEqual({ url: 'http://localhost', ttl: 12_000 })
  expect(() => readSettings('jobs {\n  url = x\n  ttl = soon\n}', defaults)).toThrow(
    `jobs.conf:3:9: 'jobs.ttl' is the string "soon": expected a duration such as 12s or 500 ms`,
  )
})
