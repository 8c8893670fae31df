import { describePostgres } from '@leasehold/testing/describe-postgres'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { expect, it } from 'vitest'
import { runBank } from '../../../../bench/sharding/bank/run-bank.js'
import { runRestart } from '../../../../bench/sharding/bank/run-restart.js'

/** `BANK_SECONDS=600 npm test -- packages/sharding/test/bank` for longer. */
const seconds = Number(process.env.BANK_SECONDS ?? 20)

const small = { accounts: 2_000, processes: 3, lanes: 5 }

/** The run, the audits of a busy machine, and the start of the processes. */
const timeout = (seconds + 240) * 1_000

describeRedis('a bank of three processes on Redis', () => {
  it('keeps its sum while processes are killed, stopped and cut off', { timeout }, async () => {
    expect((await runBank('redis', { ...small, seconds })).failures).toEqual([])
  })

  it('loses no acknowledged change in a rolling restart', { timeout }, async () => {
    expect((await runRestart('redis', { ...small, seconds: 0 })).failures).toEqual([])
  })
})

describePostgres('a bank of three processes on PostgreSQL', () => {
  it('keeps its sum while processes are killed, stopped and cut off', { timeout }, async () => {
    expect((await runBank('postgres', { ...small, seconds })).failures).toEqual([])
  })
})
