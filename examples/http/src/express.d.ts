/** The part of Express that this example uses. In a project of your own, install `@types/express`. */
declare module 'express' {
  interface Request {
    readonly params: { readonly id: string }
  }
  interface Response {
    status(code: number): this
    json(body: unknown): this
  }
  type Handler = (request: Request, response: Response) => void | Promise<void>
  interface Application {
    get(path: string, handler: Handler): this
    post(path: string, handler: Handler): this
    listen(port: number, host: string): import('node:http').Server
  }
  function express(): Application
  export = express
}
