import { consulSystem } from './consul/system.js'
import { etcdSystem } from './etcd/system.js'
import { kubernetesSystem } from './kubernetes/system.js'
import { natsSystem } from './nats/system.js'
import { redisSystem } from './redis/system.js'
import type { System } from './system.js'

/** The stores of Leasehold, in the order of their names. */
export const systems: readonly System[] = [consulSystem, etcdSystem, kubernetesSystem, natsSystem, redisSystem]
