import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { afterAll, beforeAll } from 'vitest'
import { onServer } from '../../../etcd/test/support/law-subjects.js'
import { describeAllRecipes } from '../support/all-recipes.js'

describeEtcd('on an etcd server:', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
  })

  afterAll(() => server.stop())

  describeAllRecipes((recipe) => ({ ...recipe, store: onServer(() => server) }))
})
