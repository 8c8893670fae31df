import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { assign, setup } from 'xstate'
import { startAccounts } from '../readme/postgres.js'

const account = setup({
  types: {
    context: {} as { balance: number },
    events: {} as { type: 'deposit'; amount: number; reply?: (balance: number) => void },
  },
}).createMachine({
  context: { balance: 0 },
  on: {
    deposit: {
      actions: [
        assign({ balance: ({ context, event }) => context.balance + event.amount }),
        ({ context, event }) => event.reply?.(context.balance),
      ],
    },
  },
})

describePostgres('the example with PostgreSQL', () => {
  it('keeps the accounts of all instances in the database', async () => {
    const server = await PostgresServer.start()
    const pools = [1, 2].map(() => new Pool({ connectionString: server.url, max: 5 }))
    onTestFinished(async () => {
      for (const pool of pools) await pool.end()
      await server.stop()
    })
    for (const pool of pools) pool.on('error', () => {})
    const options = { address: 'http://127.0.0.1:0', secret: 'known to all instances' }
    const instances = await Promise.all(pools.map((pool) => startAccounts(pool, account, options)))
    const balances: number[] = []
    for (const accounts of [...instances, ...instances]) {
      balances.push(await accounts.ask<number>('account-7', { type: 'deposit', amount: 5 }))
    }
    expect(balances).toEqual([5, 10, 15, 20])
    await Promise.all(instances.map((accounts) => accounts.stop()))
    const rows = await server.query(
      `select entity -> 'snapshot' -> 'context' ->> 'balance' as balance from leasehold.leases_entities
        where region = 'accounts' and id = 'account-7'`,
    )
    expect(rows).toEqual([{ balance: '20' }])
  })
})
