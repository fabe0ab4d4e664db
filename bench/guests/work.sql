-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tables, an index, a join, an aggregate, an update.
create table item(id integer primary key, name text, price real);
create table sale(item integer, day integer, n integer);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 1000)
    insert into item select x, 'item ' || x, (x * 7919) % 1000 / 10.0 from c;
with recursive c(x) as (select 1 union all select x + 1 from c where x < 8000)
    insert into sale select (x * 31) % 1000 + 1, x % 365, x % 7 from c;
create index by_item on sale(item, day);
select name, sum(n * price) from sale join item on item.id = sale.item group by name order by 2 desc limit 20;
update item set price = price * 1.1 where id in (select item from sale where day < 30);
select count(*), avg(price) from item;
