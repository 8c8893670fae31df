import { randomUUID } from 'node:crypto'
import { Channel, Client, credentials } from '@grpc/grpc-js'
import { EtcdClient, EtcdGuard, EtcdLeaseStore } from '@leasehold/etcd'
import { describeEtcd } from '@leasehold/testing/describe-etcd'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { granted } from '@leasehold/testing/job-claims'
import { describeStoreLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { never, onServer } from './support/law-subjects.js'
import { Scene } from './support/scene.js'

describeEtcd("the user's client of gRPC", () => {
  let server: EtcdServer
  let own: Client
  let client: EtcdClient

  beforeAll(async () => {
    server = await EtcdServer.start()
    own = clientTo(server.port)
    client = new EtcdClient({ clients: [own] })
  })

  afterAll(async () => {
    client.close()
    own.close()
    await server.stop()
  })

  describeStoreLaws(
    onServer(
      () => server,
      () => client,
      "the user's client of gRPC",
    ),
  )

  it('serves a guard, and stays open when the client of etcd is closed', async () => {
    const [first, second] = [new EtcdClient({ clients: [own] }), new EtcdClient({ clients: [own] })]
    const key = randomUUID()
    await new EtcdGuard(first).write(key, 5n, 'by the first')
    first.close()
    await expect(new EtcdGuard(second).write(key, 4n, 'late')).rejects.toThrow('is older than 5')
    second.close()
  })

  it('is replaced by that of another member while it is not answered', async () => {
    const down = clientTo(1)
    const both = new EtcdClient({ clients: [down, own] })
    const store = new EtcdLeaseStore(both, { prefix: `${randomUUID()}/` })
    expect(await store.read('job', never)).toBe(undefined)
    await store.close()
    both.close()
    down.close()
  })
})

describeEtcd("the user's channel of gRPC", () => {
  it('serves a store, and stays open when the client of etcd is closed', () =>
    Scene.play(async (scene) => {
      const server = await scene.server()
      const own = new Channel(`127.0.0.1:${server.port}`, credentials.createInsecure(), {})
      scene.atEnd(async () => own.close())
      for (const name of ['first', 'second']) {
        const etcd = new EtcdClient({ clients: [own] })
        await granted(new EtcdLeaseStore(etcd), randomUUID(), { name })
        etcd.close()
      }
    }))
})

function clientTo(port: number): Client {
  return new Client(`127.0.0.1:${port}`, credentials.createInsecure())
}
