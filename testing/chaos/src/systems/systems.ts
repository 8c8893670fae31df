import { consulSystem } from './consul/system.js'
import { etcdSystem } from './etcd/system.js'
import { kubernetesSystem } from './kubernetes/system.js'
import { natsSystem } from './nats/system.js'
import { redisSystem } from './redis/system.js'
import type { System } from './system.js'

/** All stores that can be run. */
export const systems: readonly System[] = [consulSystem, etcdSystem, kubernetesSystem, natsSystem, redisSystem]
