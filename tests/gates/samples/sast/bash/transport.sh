#!/bin/bash

# ruleid: swarmgate.bash.tls-verification-off
curl -k -o data.json https://api.shop.internal/data
# ruleid: swarmgate.bash.tls-verification-off
curl -fskL https://api.shop.internal/data
# ruleid: swarmgate.bash.tls-verification-off
wget --no-check-certificate https://api.shop.internal/data
# ok: swarmgate.bash.tls-verification-off
curl --cacert ca.pem -o data.json https://api.shop.internal/data

# ruleid: swarmgate.bash.ssh-host-key-ignored
ssh -o StrictHostKeyChecking=no deploy@shop.internal uptime
# ok: swarmgate.bash.ssh-host-key-ignored
ssh -o StrictHostKeyChecking=accept-new deploy@shop.internal uptime

# ruleid: swarmgate.bash.password-in-arguments
mysql -u shop -p"$DB_PASSWORD" shop < schema.sql
# ruleid: swarmgate.bash.password-in-arguments
curl -u shop:example https://api.shop.internal/data
# ok: swarmgate.bash.password-in-arguments
MYSQL_PWD="$DB_PASSWORD" mysql -u shop shop < schema.sql
# ok: swarmgate.bash.password-in-arguments
curl --netrc https://api.shop.internal/data
