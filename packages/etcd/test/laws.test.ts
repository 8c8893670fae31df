import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { leasesOver } from '@leasehold/testkit'
import { describeLeaseLaws, describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { behindProxies, onServer, onServerThatRestarts, partitionLaws, restartLaws } from './support/law-subjects.js'

describeEtcd('one server:', () => {
  let server: EtcdServer

  beforeAll(async () => {
    server = await EtcdServer.start()
  })

  afterAll(() => server.stop())

  describeStoreLaws(onServer(() => server))
  const proxied = behindProxies(() => server)
  describeStoreLaws(proxied, partitionLaws)
  describeLeaseLaws(leasesOver(proxied))
})

describeEtcd('servers of their own:', () => {
  describeStoreLaws(onServerThatRestarts(), restartLaws)
})
