// A CommonJS application on NestJS 11, in plain JavaScript. It loads the ES modules of the packages by `require`.
require('reflect-metadata')
const { LeasedCron, LeaseholdModule, LeaseToken, OnLeader, WithLease } = require('@leasehold/nestjs')
const { Module } = require('@nestjs/common')
const { Cron, ScheduleModule } = require('@nestjs/schedule')

/** Decorates a method as the compiler of TypeScript does: from the last decorator to the first. */
function decorate(target, key, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(target, key)
  for (const decorator of decorators.toReversed()) decorator(target, key, descriptor)
  Object.defineProperty(target, key, descriptor)
}

/** The providers of one instance. They add their calls to `calls`. */
function providersOf(calls) {
  class Reports {
    send(token) {
      calls.push(['cron', token])
    }
    print({ due }) {
      calls.push(['leased cron', due])
    }
    lead({ term }) {
      calls.push(['leader', term])
    }
    async book(id, token) {
      return [id, token]
    }
  }
  LeaseToken()(Reports.prototype, 'send', 0)
  LeaseToken()(Reports.prototype, 'book', 1)
  decorate(Reports.prototype, 'send', Cron('* * * * * *'))
  decorate(Reports.prototype, 'print', LeasedCron('* * * * * *'))
  decorate(Reports.prototype, 'lead', OnLeader('reports'))
  decorate(
    Reports.prototype,
    'book',
    WithLease((id) => `account/${id}`),
  )
  return { Reports }
}

/** The module of one instance. */
function applicationModule(store, calls) {
  class ApplicationModule {}
  const { Reports } = providersOf(calls)
  const leasehold = LeaseholdModule.forRoot({ store, guardCron: true, closeStore: false })
  Module({ imports: [ScheduleModule.forRoot(), leasehold], providers: [Reports] })(ApplicationModule)
  return { ApplicationModule, Reports }
}

module.exports = { applicationModule, providersOf }
