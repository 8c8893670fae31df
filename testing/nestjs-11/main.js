// Two instances on one store. Prints a line of JSON once each has seen a few ticks.
const { setTimeout: sleep } = require('node:timers/promises')
const { applicationModule } = require('./application.js')
const { MemoryLeaseStore } = require('@leasehold/core')
const { Leases } = require('@leasehold/nestjs')
const { LeaseholdHealthIndicator } = require('@leasehold/nestjs/terminus')
const { NestFactory } = require('@nestjs/core')

async function main() {
  const store = new MemoryLeaseStore()
  const calls = []
  const instances = []
  for (const _ of ['anna', 'berta']) {
    const { ApplicationModule, Reports } = applicationModule(store, calls)
    const application = await NestFactory.createApplicationContext(ApplicationModule, { logger: ['warn', 'error'] })
    application.enableShutdownHooks()
    instances.push({ application, Reports })
  }
  const dues = () => calls.filter(([kind]) => kind === 'leased cron').map(([, due]) => due.getTime())
  while (dues().length < 3) await sleep(50)
  const [{ application, Reports }] = instances
  const [id, token] = await application.get(Reports).book('7')
  const indicator = new LeaseholdHealthIndicator(application.get(Leases, { strict: false }))
  const leaders = calls.filter(([kind]) => kind === 'leader').length
  for (const { application } of instances) await application.close()
  const crons = calls.filter(([kind]) => kind === 'cron')
  const result = {
    nest: require('@nestjs/core/package.json').version.split('.')[0],
    twice: dues().length - new Set(dues()).size,
    unguarded: crons.filter(([, token]) => typeof token !== 'bigint').length,
    tokensRepeat: new Set(crons.map(([, token]) => token)).size !== crons.length,
    guarded: crons.length > 0,
    leaders,
    booked: [id, typeof token],
    health: indicator.isHealthy('locks'),
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}

void main()
