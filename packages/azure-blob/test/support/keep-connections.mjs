// Loaded into Azurite. It closes connections that were idle for five seconds, also where a request has come meanwhile that it
// has not read; the tests send heartbeats every five seconds. This version does not read its option for that.
import { Server } from 'node:http'

Object.defineProperty(Server.prototype, 'keepAliveTimeout', { get: () => 0, set: () => {} })
