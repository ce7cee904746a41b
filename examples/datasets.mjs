// Writes what the sessions in docs/datasets.md work with into the directory DATA: a
// shop's orders for a file server, its customers for a memory server, and a
// heddle.yml with both servers, of test/npm. The same every time.
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const of = (list, i) => list[i % list.length]
const write = (name, text) => writeFileSync(`${process.env.DATA}/${name}`, text)
const cities = ['Graz', 'Lyon', 'Oslo', 'Porto', 'Turin']
const customers = Array.from({ length: 60 }, (_, i) => `${of(['acme', 'bolt', 'cairn', 'delta'], i)}-${i + 1}`)

const orders = Array.from({ length: 1000 }, (_, i) => ({
  id: String(9007199254740993n + BigInt(i)), // above what a double holds
  customer: of(customers, i * 7 + (i >> 3)),
  status: of(['shipped', 'shipped', 'shipped', 'open', 'returned'], i * 31 + (i >> 4)),
  total: (i * 7919 % 90000 + 500) / 100,
  placed: new Date(Date.UTC(2026, 0, 1) + i * 8_000_000).toISOString(),
  ship: { city: of(cities, i * 13 + (i >> 3)), express: i % 7 === 0 },
  items: [`sku-${i % 40}`, `sku-${i * 3 % 55}`],
  coupon: i % 9 ? null : `C${1000 + i}`,
}))
const json = JSON.stringify({
  orders, shippers: ['Post', 'Rail', 'Road', 'Sea', 'Sky'].map((name, i) => ({ code: i + 1, name })),
  total: 4210, next_cursor: 'b3JkZXJzOjEwMDA=', warehouses: cities.slice(0, 3),
})
write('orders.json', json.replace(/"id":"(\d+)"/g, '"id":$1'))

const graph = customers.slice(0, 50).map((name, i) => (
  { type: 'entity', name, entityType: 'customer', observations: [`pays by ${of(['card', 'invoice'], i)}`, `since ${2015 + i % 10}`] }
)).concat(customers.slice(0, 50).map((from, i) => (
  { type: 'relation', from, to: of(['Ada', 'Ben', 'Chloe'], i), relationType: 'looked after by' }
)))
write('memory.jsonl', graph.map(line => JSON.stringify(line)).join('\n'))

const bin = fileURLToPath(new URL('../test/npm/node_modules/.bin/', import.meta.url))
write('heddle.yml', `version: 2
servers:
  files: {command: "${bin}mcp-server-filesystem", args: ["."]}
  memory: {command: "${bin}mcp-server-memory", env: {MEMORY_FILE_PATH: "${process.env.DATA}/memory.jsonl"}}
`)
