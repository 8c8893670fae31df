import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
export class RedisServer {
  static async start(): Promise<RedisServer> {
    const port = 20000 + Math.floor(Math.random() * 20000)
    const child = spawn('redis-server', ['--port', String(port), '--save', ''], { stdio: 'ignore' })
    await pause(400)
    return new RedisServer(port, child)
  }
  constructor(
    readonly port: number,
    readonly child: ReturnType<typeof spawn>,
  ) {}
  async stop() {
    this.child.kill('SIGKILL')
  }
}
